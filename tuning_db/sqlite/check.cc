#include "tuning_db/sqlite/check.h"

#include <fmt/format.h>

#include "support/status.h"
#include "tuning_db/sqlite/progress_rows.h"
#include "tuning_db/sqlite/sql_functions.h"

namespace hone::tuning_db::sqlite {
namespace {

// A query for what must not be: its rows' first column names the culprits.
struct Rule {
  const char* complaint;  // "{}" is the culprit
  const char* query;
};

constexpr Rule kRules[] = {
    {"trial {} is settled and has no record",
     "SELECT t.id FROM trials t LEFT JOIN records r ON r.trial = t.id "
     "WHERE t.state = 2 AND r.id IS NULL"},
    {"trial {} has a record and is not settled",
     "SELECT t.id FROM trials t JOIN records r ON r.trial = t.id WHERE t.state <> 2"},
    {"trial {} has more than one record",
     "SELECT trial FROM records GROUP BY trial HAVING COUNT(*) > 1"},
    {"trial {} is leased or settled without a fence",
     "SELECT id FROM trials WHERE state > 0 AND (fence < 1 OR attempt < 1)"},
    {"trial {} is leased and has no lease",
     "SELECT t.id FROM trials t LEFT JOIN leases l ON l.trial = t.id "
     "WHERE t.state = 1 AND l.trial IS NULL"},
    {"trial {} has a lease and is not leased",
     "SELECT t.id FROM trials t JOIN leases l ON l.trial = t.id WHERE t.state <> 1"},
    {"fence {} was given to two trials",
     "SELECT fence FROM trials WHERE fence > 0 GROUP BY fence HAVING COUNT(*) > 1"},
    {"fence {} is above the fence counter",
     "SELECT fence FROM trials WHERE fence > (SELECT value FROM counters WHERE name = 'fence')"},
    {"the fence counter {} is not the number of leases",
     "SELECT value FROM counters WHERE name = 'fence' AND "
     "value <> (SELECT COALESCE(SUM(attempt), 0) FROM trials)"},
    {"the events of job {} have gaps",
     "SELECT job FROM events GROUP BY job HAVING MAX(seq) - MIN(seq) + 1 <> COUNT(*)"},
    {"trial {} is not what its record says",
     "SELECT t.id FROM trials t JOIN records r ON r.trial = t.id WHERE t.task <> r.task "
     "OR t.signature <> r.signature OR t.purpose <> r.purpose OR t.job IS NOT r.job"},
    {"final {} is not of the record that it names",
     "SELECT f.id FROM finals f JOIN records r ON r.id = f.record WHERE r.task <> f.task "
     "OR r.signature <> f.signature OR r.purpose <> 1 OR r.outcome <> 0"},
    {"the span of the records from {} on does not hold them",
     "SELECT r.id >> 10 << 10 FROM records r LEFT JOIN record_spans s ON s.block = r.id >> 10 "
     "WHERE r.wall_time_ns NOT BETWEEN s.first_ns AND s.last_ns OR s.block IS NULL "
     "GROUP BY r.id >> 10"},
    {"final {} lacks its winner or its default",
     "SELECT f.id FROM finals f WHERE 2 > "
     "(SELECT (SUM(e.position = f.winner) > 0) + (SUM(e.position = f.default_entry) > 0) "
     "FROM final_entries e WHERE e.final = f.id)"},
    {"final {} has no entries",
     "SELECT id FROM finals WHERE id NOT IN (SELECT final FROM final_entries)"},
};

// SQLite's own check of pages, indices, UNIQUE, NOT NULL and STRICT types.
absl::Status CheckIntegrity(Connection& db, std::vector<std::string>& complaints) {
  HONE_ASSIGN_OR_RETURN(Statement check, db.Prepare("PRAGMA integrity_check"));
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, check.Step());
    if (!has_row) return absl::OkStatus();
    if (check.Text(0) != "ok") complaints.push_back("the file is damaged: " + check.Text(0));
  }
}

absl::Status CheckForeignKeys(Connection& db, std::vector<std::string>& complaints) {
  HONE_ASSIGN_OR_RETURN(Statement check, db.Prepare("PRAGMA foreign_key_check"));
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, check.Step());
    if (!has_row) return absl::OkStatus();
    complaints.push_back(fmt::format("row {} of {} refers to a row of {} that is not there",
                                     check.Integer(1), check.Text(0), check.Text(2)));
  }
}

absl::Status CheckRule(Connection& db, const Rule& rule, std::vector<std::string>& complaints) {
  HONE_ASSIGN_OR_RETURN(Statement query, db.Prepare(rule.query));
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return absl::OkStatus();
    complaints.push_back(fmt::format(fmt::runtime(rule.complaint), query.Integer(0)));
  }
}

absl::Status CheckTexts(Connection& db, std::vector<std::string>& complaints) {
  HONE_ASSIGN_OR_RETURN(Statement query, db.Prepare("SELECT id, key, body FROM texts"));
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return absl::OkStatus();
    if (query.Integer(1) == TextKey(query.Text(2))) continue;
    complaints.push_back(fmt::format("text {} does not have its key", query.Integer(0)));
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> CheckDatabase(Connection& db) {
  std::vector<std::string> complaints;
  HONE_RETURN_IF_ERROR(CheckIntegrity(db, complaints));
  HONE_RETURN_IF_ERROR(CheckForeignKeys(db, complaints));
  for (const Rule& rule : kRules) HONE_RETURN_IF_ERROR(CheckRule(db, rule, complaints));
  HONE_RETURN_IF_ERROR(CheckTexts(db, complaints));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> of_progress, CheckProgress(db));
  complaints.insert(complaints.end(), of_progress.begin(), of_progress.end());
  return complaints;
}

}  // namespace hone::tuning_db::sqlite
