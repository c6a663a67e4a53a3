// Who may call, in the store in SQLite. The table is small, and read whole.
#include "support/status.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/sqlite_store.h"

namespace hone::tuning_db::sqlite {
namespace {

absl::StatusOr<std::vector<Grant>> ReadGrants(Connection& db) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT id, name, role, token_digest, made_at_ns, ends_at_ns, revoked_at_ns FROM "
                 "grants ORDER BY id"));
  std::vector<Grant> grants;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return grants;
    grants.push_back({query.Integer(0), query.Text(1), query.Text(2), query.Text(3),
                      query.Integer(4), query.Integer(5), query.Integer(6)});
  }
}

absl::StatusOr<int64_t> InsertGrant(Connection& db, const Grant& grant) {
  HONE_RETURN_IF_ERROR(
      db.Run("INSERT INTO grants (name, role, token_digest, made_at_ns, ends_at_ns, revoked_at_ns) "
             "VALUES (?, ?, ?, ?, ?, ?)",
             grant.name, grant.role, grant.token_digest, grant.made_at_ns, grant.ends_at_ns,
             grant.revoked_at_ns));
  return db.LastInsertId();
}

absl::Status UpdateGrant(Connection& db, const Grant& changed) {
  return db.Run("UPDATE grants SET ends_at_ns = ?, revoked_at_ns = ? WHERE id = ?",
                changed.ends_at_ns, changed.revoked_at_ns, changed.id);
}

}  // namespace

absl::StatusOr<Grant> SqliteStore::AddGrant(const Grant& grant, int64_t overlap_ns) {
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

absl::StatusOr<std::vector<Grant>> SqliteStore::ListGrants() {
  return readers_.Read([&](Connection& db) { return ReadGrants(db); });
}

absl::StatusOr<std::vector<Grant>> SqliteStore::RevokeGrants(const std::string& name) {
  using Grants = std::vector<Grant>;
  return Change<Grants>("revoke_grants", [&](Connection& db) -> absl::StatusOr<Grants> {
    HONE_ASSIGN_OR_RETURN(const Grants known, ReadGrants(db));
    HONE_ASSIGN_OR_RETURN(const Grants plan, PlanRevocation(known, name, clock_.WallTimeNs()));
    for (const Grant& revoked : plan) HONE_RETURN_IF_ERROR(UpdateGrant(db, revoked));
    return plan;
  });
}

}  // namespace hone::tuning_db::sqlite
