#include "tuner/grant_requests.h"

#include <algorithm>

#include "support/status.h"
#include "tuner/add_grant.h"

namespace hone::tuner {
namespace {

v1::GrantInfo ToProto(const tuning_db::Grant& grant, const Clock& clock) {
  v1::GrantInfo info;
  info.set_id(grant.id);
  info.set_name(grant.name);
  info.set_role(grant.role);
  info.set_is_certificate(grant.token_digest.empty());
  info.set_made_at_ns(grant.made_at_ns);
  info.set_ends_at_ns(grant.ends_at_ns);
  info.set_revoked_at_ns(grant.revoked_at_ns);
  info.set_holds(grant.Holds(clock.WallTimeNs()));
  return info;
}

}  // namespace

absl::StatusOr<v1::AddGrantResponse> AddGrant(tuning_db::GrantStore& store, const Clock& clock,
                                              const v1::AddGrantRequest& request) {
  const int64_t overlap_ns = request.replaces() ? std::max<int64_t>(request.overlap_ns(), 0)
                                                : tuning_db::GrantStore::kRefuse;
  HONE_ASSIGN_OR_RETURN(const NewGrant added,
                        AddGrantTo(store, clock,
                                   {.name = request.name(),
                                    .role = request.role(),
                                    .lasts_ns = request.lasts_ns(),
                                    .is_certificate = request.is_certificate(),
                                    .overlap_ns = overlap_ns}));
  v1::AddGrantResponse response;
  *response.mutable_grant() = ToProto(added.grant, clock);
  response.set_token(added.token);
  return response;
}

absl::StatusOr<v1::ListGrantsResponse> ListGrants(tuning_db::GrantStore& store,
                                                  const Clock& clock) {
  HONE_ASSIGN_OR_RETURN(const auto grants, store.ListGrants());
  v1::ListGrantsResponse response;
  for (const tuning_db::Grant& grant : grants) *response.add_grants() = ToProto(grant, clock);
  return response;
}

absl::StatusOr<v1::RevokeGrantsResponse> RevokeGrants(tuning_db::GrantStore& store,
                                                      const Clock& clock,
                                                      const v1::RevokeGrantsRequest& request) {
  HONE_ASSIGN_OR_RETURN(const auto revoked, store.RevokeGrants(request.name()));
  v1::RevokeGrantsResponse response;
  for (const tuning_db::Grant& grant : revoked) *response.add_revoked() = ToProto(grant, clock);
  return response;
}

}  // namespace hone::tuner
