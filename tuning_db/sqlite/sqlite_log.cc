// What is asked of the store in SQLite.
#include "support/status.h"
#include "tuning_db/sqlite/progress_rows.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/sqlite_store.h"
#include "tuning_db/transitions.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<RecordPage> SqliteStore::ListRecords(const RecordFilter& filter, Order order,
                                                    const std::string& cursor, int64_t limit) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  return readers_.Read(
      [&](Connection& db) { return ReadRecords(db, filter, order, cursor, limit); });
}

absl::StatusOr<int64_t> SqliteStore::AddFinal(const Final& final) {
  HONE_RETURN_IF_ERROR(IsWellFormed(final));
  return Change<int64_t>("add_final", [&](Connection& db) { return PushFinal(db, final); });
}

absl::StatusOr<std::optional<Final>> SqliteStore::NewestFinal(int64_t task,
                                                              const std::string& signature) {
  return readers_.Read([&](Connection& db) { return ReadNewestFinal(db, task, signature); });
}

absl::StatusOr<RecordDetail> SqliteStore::GetRecord(int64_t id) {
  return readers_.Read([&](Connection& db) { return ReadRecordDetail(db, id); });
}

absl::StatusOr<LogStats> SqliteStore::Stats(const RecordFilter& filter) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  return readers_.Read([&](Connection& db) { return ReadStats(db, filter); });
}

absl::StatusOr<FinalPage> SqliteStore::ListFinals(const RecordFilter& filter,
                                                  const std::string& cursor, int64_t limit) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  return readers_.Read([&](Connection& db) { return ReadFinals(db, filter, cursor, limit); });
}

absl::StatusOr<int64_t> SqliteStore::AddModelFinal(const ModelFinal& final) {
  HONE_RETURN_IF_ERROR(IsWellFormed(final));
  return Change<int64_t>("add_model_final",
                         [&](Connection& db) { return InsertModelFinal(db, final); });
}

absl::StatusOr<std::optional<ModelFinal>> SqliteStore::NewestModelFinal(const std::string& skeleton,
                                                                        const std::string& target) {
  return readers_.Read([&](Connection& db) { return ReadNewestModelFinal(db, skeleton, target); });
}

absl::Status SqliteStore::RecordMisses(const std::vector<Miss>& misses) {
  for (const Miss& miss : misses) HONE_RETURN_IF_ERROR(IsWellFormed(miss));
  return Change("record_misses", [&](Connection& db) -> absl::Status {
    for (const Miss& miss : misses) HONE_RETURN_IF_ERROR(CountMiss(db, miss));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<Miss>> SqliteStore::ListMisses(const std::string& target) {
  return readers_.Read([&](Connection& db) { return ReadMisses(db, target); });
}

absl::StatusOr<int64_t> SqliteStore::PushFinal(Connection& db, const Final& final) {
  HONE_ASSIGN_OR_RETURN(const int64_t id, InsertFinal(db, final));
  HONE_ASSIGN_OR_RETURN(const auto jobs, JobsToTell(db, final.task, final.signature, final.job));
  for (const int64_t job : jobs) {
    HONE_RETURN_IF_ERROR(AddEvent(db, job, "final", FinalPayload(id, final)).status());
  }
  return id;
}

}  // namespace hone::tuning_db::sqlite
