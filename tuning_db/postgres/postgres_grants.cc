// Who may call, in the store on PostgreSQL. The table is small, and read whole.
#include "support/status.h"
#include "tuning_db/postgres/postgres_store.h"
#include "tuning_db/postgres/rows.h"

namespace hone::tuning_db::postgres {
namespace {

absl::StatusOr<std::vector<Grant>> ReadGrants(Connection& db) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT id, name, role, token_digest, made_at_ns, ends_at_ns, revoked_at_ns FROM "
               "grants ORDER BY id"));
  std::vector<Grant> grants;
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    grants.push_back({row.Integer(0), row.Text(1), row.Text(2), row.Text(3), row.Integer(4),
                      row.Integer(5), row.Integer(6)});
  }
  return grants;
}

absl::StatusOr<int64_t> InsertGrant(Connection& db, const Grant& grant) {
  return db.Insert(
      "INSERT INTO grants (id, name, role, token_digest, made_at_ns, ends_at_ns, revoked_at_ns) "
      "VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM grants), $1, $2, $3, $4, $5, $6) RETURNING "
      "id",
      grant.name, grant.role, grant.token_digest, grant.made_at_ns, grant.ends_at_ns,
      grant.revoked_at_ns);
}

absl::Status UpdateGrant(Connection& db, const Grant& changed) {
  return db.Change("UPDATE grants SET ends_at_ns = $1, revoked_at_ns = $2 WHERE id = $3",
                   changed.ends_at_ns, changed.revoked_at_ns, changed.id);
}

}  // namespace

absl::StatusOr<Grant> PostgresStore::AddGrant(const Grant& grant, int64_t overlap_ns) {
  return Change<Grant>("add_grant", [&](Connection& db) -> absl::StatusOr<Grant> {
    HONE_ASSIGN_OR_RETURN(const std::vector<Grant> known, ReadGrants(db));
    HONE_ASSIGN_OR_RETURN(std::vector<Grant> plan,
                          PlanGrant(known, grant, overlap_ns, clock_.WallTimeNs()));
    Grant added = plan.back();
    plan.pop_back();
    for (const Grant& changed : plan) HONE_RETURN_IF_ERROR(UpdateGrant(db, changed));
    HONE_ASSIGN_OR_RETURN(added.id, InsertGrant(db, added));
    return added;
  });
}

absl::StatusOr<std::vector<Grant>> PostgresStore::ListGrants() {
  return readers_.Read([&](Connection& db) { return ReadGrants(db); });
}

absl::StatusOr<std::vector<Grant>> PostgresStore::RevokeGrants(const std::string& name) {
  using Grants = std::vector<Grant>;
  return Change<Grants>("revoke_grants", [&](Connection& db) -> absl::StatusOr<Grants> {
    HONE_ASSIGN_OR_RETURN(const Grants known, ReadGrants(db));
    HONE_ASSIGN_OR_RETURN(const Grants plan, PlanRevocation(known, name, clock_.WallTimeNs()));
    for (const Grant& revoked : plan) HONE_RETURN_IF_ERROR(UpdateGrant(db, revoked));
    return plan;
  });
}

}  // namespace hone::tuning_db::postgres
