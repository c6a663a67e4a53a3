#include "tuner/add_grant.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "support/digest.h"
#include "support/random_id.h"
#include "support/status.h"
#include "tuner/role.h"

namespace hone::tuner {
namespace {

// Nobody guesses so many; the prefix tells who finds one in a file what it is.
constexpr size_t kSecretBytes = 32;
constexpr const char* kPrefix = "hone_";
constexpr size_t kLongestName = 64;

// Names stand in lists, logs and sentences.
bool IsGrantName(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' || c == '@';
         });
}

}  // namespace

absl::StatusOr<NewGrant> AddGrantTo(tuning_db::GrantStore& store, const Clock& clock,
                                    const WantedGrant& wanted) {
  if (!IsGrantName(wanted.name)) {
    return absl::InvalidArgumentError(
        fmt::format("expected a name of at most {} letters, digits and \"-_.@\"", kLongestName));
  }
  if (!RoleOf(wanted.role)) {
    return absl::InvalidArgumentError(
        fmt::format("expected a role, read, submit, work or admin, found \"{}\"", wanted.role));
  }
  if (wanted.lasts_ns < 0) {
    return absl::InvalidArgumentError("expected a time that is not negative");
  }
  NewGrant added;
  if (!wanted.is_certificate) added.token = kPrefix + RandomId(kSecretBytes);
  tuning_db::Grant grant;
  grant.name = wanted.name;
  grant.role = wanted.role;
  grant.token_digest = wanted.is_certificate ? "" : Sha256Hex(added.token);
  grant.ends_at_ns = wanted.lasts_ns == 0 ? 0 : clock.WallTimeNs() + wanted.lasts_ns;
  HONE_ASSIGN_OR_RETURN(added.grant, store.AddGrant(grant, wanted.overlap_ns));
  return added;
}

}  // namespace hone::tuner
