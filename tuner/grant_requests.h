// Carries out the requests of AuthService on a store, for the daemon, and for tools when no daemon
// runs.
#ifndef HONE_TUNER_GRANT_REQUESTS_H_
#define HONE_TUNER_GRANT_REQUESTS_H_

#include "absl/status/statusor.h"
#include "hone/v1/auth.pb.h"
#include "support/clock.h"
#include "tuning_db/grant_store.h"

namespace hone::tuner {

// Errors are those in proto/hone/v1/auth.proto. The response of AddGrant has no address to dial.
absl::StatusOr<v1::AddGrantResponse> AddGrant(tuning_db::GrantStore& store, const Clock& clock,
                                              const v1::AddGrantRequest& request);
absl::StatusOr<v1::ListGrantsResponse> ListGrants(tuning_db::GrantStore& store, const Clock& clock);
absl::StatusOr<v1::RevokeGrantsResponse> RevokeGrants(tuning_db::GrantStore& store,
                                                      const Clock& clock,
                                                      const v1::RevokeGrantsRequest& request);

}  // namespace hone::tuner

#endif  // HONE_TUNER_GRANT_REQUESTS_H_
