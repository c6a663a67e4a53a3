// Lets a caller in: makes its token, and keeps the token's digest.
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
  int64_t lasts_ns = 0;         // 0: for good
  bool is_certificate = false;  // by a certificate with this common name; there is no token then
  // How long what the name has may overlap it; GrantStore::kRefuse: it may have nothing.
  int64_t overlap_ns = tuning_db::GrantStore::kRefuse;
};

struct NewGrant {
  tuning_db::Grant grant;
  std::string token;  // a secret, told once; empty for a certificate
};

// kInvalidArgument for a name that is none (at most 64 letters, digits and "-_.@"), or an unknown
// role; else what GrantStore::AddGrant says.
absl::StatusOr<NewGrant> AddGrantTo(tuning_db::GrantStore& store, const Clock& clock,
                                    const WantedGrant& wanted);

}  // namespace hone::tuner

#endif  // HONE_TUNER_ADD_GRANT_H_
