#include <utility>

#include "support/status.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/postgres/trial_rows.h"
#include "tuning_db/record_span.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::postgres {
namespace {

constexpr char kColumns[] =
    "r.id, r.trial, r.outcome, r.message, r.samples_ns, r.median_ns, r.calibrator_ns, r.anchor_ns, "
    "r.error_ratio, r.artifact_digest, o.body, d.body, g.body, u.body, r.wall_time_ns, x.reason";
constexpr int kColumnCount = 16;

Record RecordOf(const Row& row) {
  Record record;
  record.id = row.Integer(0);
  record.trial = row.Integer(1);
  record.outcome = row.As<Outcome>(2);
  record.message = row.Bytes(3);
  record.samples_ns = row.Reals(4);
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
  HONE_ASSIGN_OR_RETURN(
      const int64_t id,
      db.Insert("INSERT INTO records (id, trial, task, signature, purpose, job, outcome, message, "
                "samples_ns, median_ns, calibrator_ns, anchor_ns, error_ratio, artifact_digest, "
                "toolchain, device, regime, worker, wall_time_ns) VALUES ((SELECT "
                "COALESCE(MAX(id), 0) + 1 FROM records), $1, $2, $3, $4, $5, $6, "
                "$7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) RETURNING id",
                trial.id, trial.task, signature, trial.purpose,
                trial.job != 0 ? std::optional(trial.job) : std::nullopt, record.outcome,
                Bytes{record.message}, record.samples_ns, record.median_ns, record.calibrator_ns,
                record.anchor_ns, record.error_ratio, Digest{record.artifact_digest}, toolchain,
                device, regime, worker, record.wall_time_ns));
  HONE_RETURN_IF_ERROR(
      db.Change("INSERT INTO record_spans AS s (block, first_ns, last_ns) VALUES ($1, $2, $3) "
                "ON CONFLICT (block) DO UPDATE SET first_ns = LEAST(s.first_ns, "
                "excluded.first_ns), last_ns = GREATEST(s.last_ns, excluded.last_ns)",
                id >> kSpanBits, record.wall_time_ns, record.wall_time_ns));
  HONE_RETURN_IF_ERROR(AddProgress(db, trial, record));
  return id;
}

absl::StatusOr<std::vector<Record>> ReadRecords(Connection& db, const std::vector<int64_t>& ids) {
  std::vector<Record> records;
  if (ids.empty()) return records;
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query(std::string("SELECT ") + kColumns + "," + kTrialColumns +
                   "FROM records r JOIN trials t ON t.id = r.trial" + kTrialTexts +
                   "JOIN texts o ON o.id = r.toolchain JOIN texts d ON d.id = r.device "
                   "LEFT JOIN texts g ON g.id = r.regime LEFT JOIN texts u ON u.id = r.worker "
                   "LEFT JOIN retractions x ON x.record = r.id WHERE r.id = ANY($1::bigint[]) "
                   "ORDER BY r.id",
               ids));
  for (int i = 0; i < rows.size(); ++i) records.push_back(RecordOf(rows[i]));
  return records;
}

absl::StatusOr<RecordDetail> ReadRecordDetail(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(std::vector<Record> records, ReadRecords(db, {id}));
  if (records.empty()) return NoSuch("record", id);
  RecordDetail detail;
  detail.record = std::move(records[0]);
  const Trial& trial = detail.record.of_trial;
  HONE_ASSIGN_OR_RETURN(detail.task, ReadTask(db, trial.task));
  HONE_ASSIGN_OR_RETURN(const auto bytes,
                        db.Integer("SELECT constant_bytes FROM jobs WHERE id = $1", trial.job));
  HONE_ASSIGN_OR_RETURN(const auto final,
                        db.Integer("SELECT MAX(id) FROM finals WHERE record = $1", id));
  detail.constant_bytes = bytes.value_or(0);
  detail.final = final.value_or(0);
  return detail;
}

absl::Status RetractRecord(Connection& db, int64_t id, const std::string& reason, int64_t now_ns) {
  HONE_ASSIGN_OR_RETURN(const Rows rows,
                        db.Query("SELECT task, signature FROM records WHERE id = $1", id));
  if (rows.empty()) return NoSuch("record", id);
  HONE_RETURN_IF_ERROR(
      db.Change("INSERT INTO retractions (record, reason, wall_time_ns) "
                "VALUES ($1, $2, $3) ON CONFLICT (record) DO NOTHING",
                id, reason, now_ns));
  return RecountProgress(db, rows[0].Integer(0), rows[0].Integer(1));
}

}  // namespace hone::tuning_db::postgres
