// What has to hold in a database beyond what its tables enforce.
#include <fmt/format.h>

#include "support/status.h"
#include "tuning_db/postgres/rows.h"

namespace hone::tuning_db::postgres {
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
     "OR t.signature <> r.signature OR t.purpose <> r.purpose OR t.job IS DISTINCT FROM r.job"},
    {"final {} is not of the record that it names",
     "SELECT f.id FROM finals f JOIN records r ON r.id = f.record WHERE r.task <> f.task "
     "OR r.signature <> f.signature OR r.purpose <> 1 OR r.outcome <> 0"},
    {"the span of the records from {} on does not hold them",
     "SELECT r.id >> 10 << 10 FROM records r LEFT JOIN record_spans s ON s.block = r.id >> 10 "
     "WHERE r.wall_time_ns NOT BETWEEN s.first_ns AND s.last_ns OR s.block IS NULL "
     "GROUP BY r.id >> 10"},
    {"final {} lacks its winner or its default",
     "SELECT f.id FROM finals f WHERE NOT EXISTS (SELECT FROM final_entries e WHERE "
     "e.final = f.id AND e.position = f.winner) OR NOT EXISTS (SELECT FROM final_entries e WHERE "
     "e.final = f.id AND e.position = f.default_entry)"},
    {"text {} does not have its digest",
     "SELECT id FROM texts WHERE digest <> sha256(convert_to(body, 'UTF8'))"},
};

}  // namespace

absl::StatusOr<std::vector<std::string>> CheckDatabase(Connection& db) {
  std::vector<std::string> complaints;
  for (const Rule& rule : kRules) {
    HONE_ASSIGN_OR_RETURN(const Rows rows, db.Query(rule.query));
    for (const int64_t culprit : IdsOf(rows)) {
      complaints.push_back(fmt::format(fmt::runtime(rule.complaint), culprit));
    }
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> of_progress, CheckProgress(db));
  complaints.insert(complaints.end(), of_progress.begin(), of_progress.end());
  return complaints;
}

}  // namespace hone::tuning_db::postgres
