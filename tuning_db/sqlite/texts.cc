#include "support/digest.h"
#include "support/status.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<int64_t> Intern(Connection& db, const std::string& text) {
  const std::string digest = Sha256Hex(text);
  HONE_ASSIGN_OR_RETURN(const auto known,
                        db.Integer("SELECT id FROM texts WHERE digest = ?", digest));
  if (known) return *known;
  HONE_RETURN_IF_ERROR(db.Run("INSERT INTO texts (digest, body) VALUES (?, ?)", digest, text));
  return db.LastInsertId();
}

absl::Status Require(Connection& db, const std::string& table, const std::string& what,
                     int64_t id) {
  HONE_ASSIGN_OR_RETURN(const auto found,
                        db.Integer("SELECT id FROM " + table + " WHERE id = ?", id));
  return found ? absl::OkStatus() : NoSuch(what, id);
}

}  // namespace hone::tuning_db::sqlite
