// Grants a caller access: makes its token and stores the token's digest.
#ifndef HONE_TUNER_ADD_GRANT_H_
#define HONE_TUNER_ADD_GRANT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "support/clock.h"
#include "tuning_db/grant_store.h"

namespace hone::tuner {

struct WantedGrant {
  std::string name;
  std::string role;
  int64_t lasts_ns = 0;  // 0: it never ends
  bool is_certificate =
      false;  // the caller shows a certificate with this common name, and there is no token
  // How long an existing grant of the same name stays valid beside the new one;
  // GrantStore::kRefuse: the name must have none.
  int64_t overlap_ns = tuning_db::GrantStore::kRefuse;
};

struct NewGrant {
  tuning_db::Grant grant;
  std::string token;  // a secret that is shown only once; empty for a certificate
};

// kInvalidArgument for an invalid name (names have at most 64 letters, digits and "-_.@") or an
// unknown role; other errors are those of GrantStore::AddGrant.
absl::StatusOr<NewGrant> AddGrantTo(tuning_db::GrantStore& store, const Clock& clock,
                                    const WantedGrant& wanted);

}  // namespace hone::tuner

#endif  // HONE_TUNER_ADD_GRANT_H_
