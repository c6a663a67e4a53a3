#include "support/digest.h"
#include "support/status.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::postgres {

absl::StatusOr<std::optional<int64_t>> FindText(Connection& db, const std::string& text) {
  if (const auto known = db.KnownText(text)) return known;
  HONE_ASSIGN_OR_RETURN(
      const auto id, db.Integer("SELECT id FROM texts WHERE digest = $1", Digest{Sha256Hex(text)}));
  if (id) db.LearnText(text, *id);
  return id;
}

absl::StatusOr<int64_t> Intern(Connection& db, const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const auto known, FindText(db, text));
  if (known) return *known;
  HONE_ASSIGN_OR_RETURN(const int64_t id,
                        db.Insert("INSERT INTO texts (id, digest, body) VALUES ((SELECT "
                                  "COALESCE(MAX(id), 0) + 1 FROM texts), $1, $2) RETURNING id",
                                  Digest{Sha256Hex(text)}, text));
  db.LearnText(text, id);
  return id;
}

absl::StatusOr<std::optional<int64_t>> InternSome(Connection& db, const std::string& text) {
  if (text.empty()) return std::optional<int64_t>();
  HONE_ASSIGN_OR_RETURN(const int64_t id, Intern(db, text));
  return std::optional<int64_t>(id);
}

absl::Status Require(Connection& db, const std::string& table, const std::string& what,
                     int64_t id) {
  HONE_ASSIGN_OR_RETURN(const auto found,
                        db.Integer("SELECT id FROM " + table + " WHERE id = $1", id));
  return found ? absl::OkStatus() : NoSuch(what, id);
}

absl::Status RequireOwners(Connection& db, int64_t task, int64_t job) {
  HONE_RETURN_IF_ERROR(Require(db, "tasks", "task", task));
  return job == 0 ? absl::OkStatus() : Require(db, "jobs", "job", job);
}

std::vector<int64_t> IdsOf(const Rows& rows) {
  std::vector<int64_t> ids;
  for (int i = 0; i < rows.size(); ++i) ids.push_back(rows[i].Integer(0));
  return ids;
}

}  // namespace hone::tuning_db::postgres
