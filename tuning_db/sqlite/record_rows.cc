#include <limits>

#include "support/digest.h"
#include "support/status.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/trial_rows.h"

namespace hone::tuning_db::sqlite {
namespace {

constexpr char kColumns[] =
    "r.id, r.trial, r.outcome, r.message, r.samples_ns, r.median_ns, r.calibrator_ns, r.anchor_ns, "
    "r.error_ratio, r.artifact_digest, o.body, d.body, r.regime, r.worker, r.wall_time_ns";
constexpr int kColumnCount = 15;

Record RecordOf(const Statement& row) {
  Record record;
  record.id = row.Integer(0);
  record.trial = row.Integer(1);
  record.outcome = row.As<Outcome>(2);
  record.message = row.Text(3);
  record.samples_ns = row.Reals(4);
  record.median_ns = row.Real(5);
  record.calibrator_ns = row.Real(6);
  record.anchor_ns = row.Real(7);
  record.error_ratio = row.Real(8);
  record.artifact_digest = row.Text(9);
  record.toolchain = row.Text(10);
  record.device = row.Text(11);
  record.regime = row.Text(12);
  record.worker = row.Text(13);
  record.wall_time_ns = row.Integer(14);
  record.of_trial = TrialOf(row, kColumnCount);
  return record;
}

// The conditions of a filter, and below their parameters in the same order.
std::string Where(const RecordFilter& filter) {
  std::string where = filter.newest_first ? "r.id < ?" : "r.id > ?";
  if (filter.task) where += " AND t.task = ?";
  if (filter.signature) where += " AND s.digest = ?";
  if (filter.job) where += " AND IFNULL(t.job, 0) = ?";
  if (filter.purpose) where += " AND t.purpose = ?";
  if (!filter.target.empty()) where += " AND g.digest = ?";
  if (!filter.workload_substring.empty()) where += " AND INSTR(w.body, ?) > 0";
  return where;
}

void BindFilter(Statement& query, const RecordFilter& filter) {
  const bool is_unbounded = filter.newest_first && filter.after_id == 0;
  query.Bind(is_unbounded ? std::numeric_limits<int64_t>::max() : filter.after_id);
  if (filter.task) query.Bind(*filter.task);
  if (filter.signature) query.Bind(Sha256Hex(*filter.signature));
  if (filter.job) query.Bind(*filter.job);
  if (filter.purpose) query.Bind(*filter.purpose);
  if (!filter.target.empty()) query.Bind(Sha256Hex(filter.target));
  if (!filter.workload_substring.empty()) query.Bind(filter.workload_substring);
  query.Bind(filter.limit > 0 ? filter.limit : -1);
}

}  // namespace

absl::Status InsertRecord(Connection& db, const Record& record) {
  HONE_ASSIGN_OR_RETURN(const int64_t toolchain, Intern(db, record.toolchain));
  HONE_ASSIGN_OR_RETURN(const int64_t device, Intern(db, record.device));
  return db.Run(
      "INSERT INTO records (trial, outcome, message, samples_ns, median_ns, calibrator_ns, "
      "anchor_ns, error_ratio, artifact_digest, toolchain, device, regime, worker, wall_time_ns) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      record.trial, record.outcome, record.message, record.samples_ns, record.median_ns,
      record.calibrator_ns, record.anchor_ns, record.error_ratio, record.artifact_digest, toolchain,
      device, record.regime, record.worker, record.wall_time_ns);
}

absl::StatusOr<std::vector<Record>> ReadRecords(Connection& db, const RecordFilter& filter) {
  const std::string sql = std::string("SELECT ") + kColumns + "," + kTrialColumns +
                          "FROM records r JOIN trials t ON t.id = r.trial" + kTrialTexts +
                          "JOIN texts o ON o.id = r.toolchain JOIN texts d ON d.id = r.device "
                          "JOIN tasks k ON k.id = t.task JOIN texts w ON w.id = k.workload "
                          "JOIN texts g ON g.id = k.target WHERE " +
                          Where(filter) + " ORDER BY r.id" + (filter.newest_first ? " DESC" : "") +
                          " LIMIT ?";
  HONE_ASSIGN_OR_RETURN(Statement query, db.Prepare(sql));
  BindFilter(query, filter);
  std::vector<Record> records;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return records;
    records.push_back(RecordOf(query));
  }
}

}  // namespace hone::tuning_db::sqlite
