#include "support/status.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/sql_functions.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<std::optional<int64_t>> FindText(Connection& db, const std::string& text) {
  return db.Integer("SELECT id FROM texts WHERE key = ? AND body = ?", TextKey(text), text);
}

absl::StatusOr<int64_t> Intern(Connection& db, const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const auto known, FindText(db, text));
  if (known) return *known;
  HONE_RETURN_IF_ERROR(db.Run("INSERT INTO texts (key, body) VALUES (?, ?)", TextKey(text), text));
  return db.LastInsertId();
}

absl::StatusOr<std::optional<int64_t>> InternSome(Connection& db, const std::string& text) {
  if (text.empty()) return std::optional<int64_t>();
  HONE_ASSIGN_OR_RETURN(const int64_t id, Intern(db, text));
  return std::optional<int64_t>(id);
}

absl::Status Require(Connection& db, const std::string& table, const std::string& what,
                     int64_t id) {
  HONE_ASSIGN_OR_RETURN(const auto found,
                        db.Integer("SELECT id FROM " + table + " WHERE id = ?", id));
  return found ? absl::OkStatus() : NoSuch(what, id);
}

}  // namespace hone::tuning_db::sqlite
