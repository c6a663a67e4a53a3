#include "support/status.h"
#include "tuning_db/record_span.h"
#include "tuning_db/sqlite/progress_rows.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/trial_rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::sqlite {
namespace {

constexpr char kColumns[] =
    "r.id, r.trial, r.outcome, r.message, r.samples_ns, r.median_ns, r.calibrator_ns, r.anchor_ns, "
    "r.error_ratio, r.artifact_digest, o.body, d.body, g.body, u.body, r.wall_time_ns, x.reason";
constexpr int kColumnCount = 16;

Record RecordOf(const Statement& row) {
  Record record;
  record.id = row.Integer(0);
  record.trial = row.Integer(1);
  record.outcome = row.As<Outcome>(2);
  record.message = row.Text(3);
  record.samples_ns = row.PackedReals(4);
  record.median_ns = row.Real(5);
  record.calibrator_ns = row.Real(6);
  record.anchor_ns = row.Real(7);
  record.error_ratio = row.Real(8);
  record.artifact_digest = row.DigestText(9);
  record.toolchain = row.Text(10);
  record.device = row.Text(11);
  record.regime = row.Text(12);
  record.worker = row.Text(13);
  record.wall_time_ns = row.Integer(14);
  record.retracted = row.Text(15);
  record.of_trial = TrialOf(row, kColumnCount);
  return record;
}

}  // namespace

absl::StatusOr<int64_t> InsertRecord(Connection& db, const Trial& trial, const Record& record) {
  HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, trial.signature));
  HONE_ASSIGN_OR_RETURN(const int64_t toolchain, Intern(db, record.toolchain));
  HONE_ASSIGN_OR_RETURN(const int64_t device, Intern(db, record.device));
  HONE_ASSIGN_OR_RETURN(const auto regime, InternSome(db, record.regime));
  HONE_ASSIGN_OR_RETURN(const auto worker, InternSome(db, record.worker));
  HONE_RETURN_IF_ERROR(db.Run(
      "INSERT INTO records (trial, task, signature, purpose, job, outcome, message, samples_ns, "
      "median_ns, calibrator_ns, anchor_ns, error_ratio, artifact_digest, toolchain, device, "
      "regime, worker, wall_time_ns) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      trial.id, trial.task, signature, trial.purpose,
      trial.job != 0 ? std::optional(trial.job) : std::nullopt, record.outcome, record.message,
      Packed{record.samples_ns}, record.median_ns, record.calibrator_ns, record.anchor_ns,
      record.error_ratio, Digest{record.artifact_digest}, toolchain, device, regime, worker,
      record.wall_time_ns));
  const int64_t id = db.LastInsertId();
  HONE_RETURN_IF_ERROR(
      db.Run("INSERT INTO record_spans (block, first_ns, last_ns) VALUES (?, ?, ?) "
             "ON CONFLICT (block) DO UPDATE SET first_ns = MIN(first_ns, excluded.first_ns), "
             "last_ns = MAX(last_ns, excluded.last_ns)",
             id >> kSpanBits, record.wall_time_ns, record.wall_time_ns));
  HONE_RETURN_IF_ERROR(AddProgress(db, trial, record));
  return id;
}

absl::StatusOr<Record> ReadRecord(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare(std::string("SELECT ") + kColumns + "," + kTrialColumns +
                 "FROM records r JOIN trials t ON t.id = r.trial" + kTrialTexts +
                 "JOIN texts o ON o.id = r.toolchain JOIN texts d ON d.id = r.device "
                 "LEFT JOIN texts g ON g.id = r.regime LEFT JOIN texts u ON u.id = r.worker "
                 "LEFT JOIN retractions x ON x.record = r.id WHERE r.id = ?"));
  query.Bind(id);
  HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
  if (!has_row) return NoSuch("record", id);
  return RecordOf(query);
}

absl::StatusOr<RecordDetail> ReadRecordDetail(Connection& db, int64_t id) {
  RecordDetail detail;
  HONE_ASSIGN_OR_RETURN(detail.record, ReadRecord(db, id));
  const Trial& trial = detail.record.of_trial;
  HONE_ASSIGN_OR_RETURN(detail.task, ReadTask(db, trial.task));
  HONE_ASSIGN_OR_RETURN(const auto bytes,
                        db.Integer("SELECT constant_bytes FROM jobs WHERE id = ?", trial.job));
  HONE_ASSIGN_OR_RETURN(const auto final,
                        db.Integer("SELECT MAX(id) FROM finals WHERE record = ?", id));
  detail.constant_bytes = bytes.value_or(0);
  detail.final = final.value_or(0);
  return detail;
}

absl::Status RetractRecord(Connection& db, int64_t id, const std::string& reason, int64_t now_ns) {
  HONE_ASSIGN_OR_RETURN(Statement query,
                        db.Prepare("SELECT task, signature FROM records WHERE id = ?"));
  query.Bind(id);
  HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
  if (!has_row) return NoSuch("record", id);
  HONE_RETURN_IF_ERROR(
      db.Run("INSERT INTO retractions (record, reason, wall_time_ns) "
             "VALUES (?, ?, ?) ON CONFLICT (record) DO NOTHING",
             id, reason, now_ns));
  return RecountProgress(db, query.Integer(0), query.Integer(1));
}

}  // namespace hone::tuning_db::sqlite
