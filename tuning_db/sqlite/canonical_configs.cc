#include "tuning_db/sqlite/canonical_configs.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/digest.h"
#include "support/status.h"
#include "tuning_db/canonical_config.h"

namespace hone::tuning_db::sqlite {
namespace {

// As texts were before migration 9.
absl::StatusOr<int64_t> InternByDigest(Connection& db, const std::string& text) {
  const std::string digest = Sha256Hex(text);
  HONE_ASSIGN_OR_RETURN(const auto known,
                        db.Integer("SELECT id FROM texts WHERE digest = ?", digest));
  if (known) return *known;
  HONE_RETURN_IF_ERROR(db.Run("INSERT INTO texts (digest, body) VALUES (?, ?)", digest, text));
  return db.LastInsertId();
}

// The texts of configs that are not canonical, with their canonical form.
absl::StatusOr<std::vector<std::pair<int64_t, std::string>>> OtherSpellings(Connection& db) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT id, body FROM texts WHERE id IN "
                 "(SELECT config FROM trials UNION SELECT config FROM final_entries) ORDER BY id"));
  std::vector<std::pair<int64_t, std::string>> found;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return found;
    std::string canonical = CanonicalConfig(query.Text(1));
    if (canonical != query.Text(1)) found.emplace_back(query.Integer(0), std::move(canonical));
  }
}

}  // namespace

absl::Status CanonicaliseConfigs(Connection& db) {
  HONE_ASSIGN_OR_RETURN(const auto spellings, OtherSpellings(db));
  if (spellings.empty()) return absl::OkStatus();
  // Rows are found by their config here and nowhere else.
  HONE_RETURN_IF_ERROR(
      db.Execute("CREATE INDEX trials_of_config ON trials (config);"
                 "CREATE INDEX final_entries_of_config ON final_entries (config)"));
  // Rounds count cancellations, which are few: what lies above all of them and differs by trial is
  // free.
  HONE_ASSIGN_OR_RETURN(const auto rounds, db.Integer("SELECT MAX(round) + 1 FROM trials"));
  for (const auto& [spelling, canonical] : spellings) {
    HONE_ASSIGN_OR_RETURN(const int64_t config, InternByDigest(db, canonical));
    const std::string digest = Sha256Hex(canonical);
    HONE_RETURN_IF_ERROR(
        db.Run("UPDATE final_entries SET config = ? WHERE config = ?", config, spelling));
    HONE_RETURN_IF_ERROR(
        db.Run("UPDATE OR IGNORE trials SET config = ?, config_digest = ? WHERE config = ?", config,
               digest, spelling));
    HONE_RETURN_IF_ERROR(
        db.Run("UPDATE trials SET config = ?, config_digest = ?, round = ? + id WHERE config = ?",
               config, digest, rounds.value_or(0), spelling));
  }
  return db.Execute("DROP INDEX trials_of_config; DROP INDEX final_entries_of_config");
}

}  // namespace hone::tuning_db::sqlite
