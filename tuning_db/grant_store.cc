#include "tuning_db/grant_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/status.h"
#include "tuning_db/digest_bytes.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db {
namespace {

absl::Status IsWellFormedGrant(const Grant& grant) {
  if (grant.name.empty() || grant.role.empty()) {
    return absl::InvalidArgumentError("expected a grant with a name and a role");
  }
  HONE_RETURN_IF_ERROR(IsText("a name", grant.name));
  HONE_RETURN_IF_ERROR(IsText("a role", grant.role));
  if (grant.token_digest.empty() || DigestToBytes(grant.token_digest)) return absl::OkStatus();
  return absl::InvalidArgumentError("expected a SHA-256 in hexadecimal digits of a grant's token");
}

}  // namespace

absl::StatusOr<std::vector<Grant>> PlanGrant(const std::vector<Grant>& known, const Grant& grant,
                                             int64_t overlap_ns, int64_t now_ns) {
  HONE_RETURN_IF_ERROR(IsWellFormedGrant(grant));
  std::vector<Grant> plan;
  for (const Grant& older : known) {
    if (older.name != grant.name || !older.Holds(now_ns)) continue;
    if (overlap_ns == GrantStore::kRefuse) {
      return absl::AlreadyExistsError(
          fmt::format("\"{}\" has a grant already; revoke it first, or replace it", grant.name));
    }
    const int64_t ends_at_ns = now_ns + overlap_ns;
    if (older.ends_at_ns != 0 && older.ends_at_ns <= ends_at_ns) continue;
    plan.push_back(older);
    plan.back().ends_at_ns = ends_at_ns;
  }
  plan.push_back(grant);
  plan.back().id = 0;
  plan.back().made_at_ns = now_ns;
  plan.back().revoked_at_ns = 0;
  return plan;
}

absl::StatusOr<std::vector<Grant>> PlanRevocation(const std::vector<Grant>& known,
                                                  const std::string& name, int64_t now_ns) {
  std::vector<Grant> plan;
  for (const Grant& grant : known) {
    if (grant.name != name || !grant.Holds(now_ns)) continue;
    plan.push_back(grant);
    plan.back().revoked_at_ns = now_ns;
  }
  if (!plan.empty()) return plan;
  return absl::NotFoundError(fmt::format("nobody named \"{}\" has a grant that holds", name));
}

}  // namespace hone::tuning_db
