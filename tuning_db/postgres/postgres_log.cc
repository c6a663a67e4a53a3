// What is asked of the store in PostgreSQL.
#include "support/status.h"
#include "tuning_db/postgres/postgres_store.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/transitions.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db::postgres {

absl::StatusOr<RecordPage> PostgresStore::ListRecords(const RecordFilter& filter, Order order,
                                                      const std::string& cursor, int64_t limit) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  return readers_.Read(
      [&](Connection& db) { return postgres::ListRecords(db, filter, order, cursor, limit); });
}

absl::StatusOr<int64_t> PostgresStore::AddFinal(const Final& final) {
  HONE_RETURN_IF_ERROR(IsWellFormed(final));
  return Change<int64_t>("add_final", [&](Connection& db) { return PushFinal(db, final); });
}

absl::StatusOr<std::optional<Final>> PostgresStore::NewestFinal(int64_t task,
                                                                const std::string& signature) {
  return readers_.Read([&](Connection& db) { return ReadNewestFinal(db, task, signature); });
}

absl::StatusOr<RecordDetail> PostgresStore::GetRecord(int64_t id) {
  return readers_.Read([&](Connection& db) { return ReadRecordDetail(db, id); });
}

absl::StatusOr<LogStats> PostgresStore::Stats(const RecordFilter& filter) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  return readers_.Read([&](Connection& db) { return ReadStats(db, filter); });
}

absl::StatusOr<FinalPage> PostgresStore::ListFinals(const RecordFilter& filter,
                                                    const std::string& cursor, int64_t limit) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  return readers_.Read([&](Connection& db) { return ReadFinals(db, filter, cursor, limit); });
}

absl::StatusOr<int64_t> PostgresStore::AddModelFinal(const ModelFinal& final) {
  HONE_RETURN_IF_ERROR(IsWellFormed(final));
  return Change<int64_t>("add_model_final",
                         [&](Connection& db) { return InsertModelFinal(db, final); });
}

absl::StatusOr<std::optional<ModelFinal>> PostgresStore::NewestModelFinal(
    const std::string& skeleton, const std::string& target) {
  return readers_.Read([&](Connection& db) { return ReadNewestModelFinal(db, skeleton, target); });
}

absl::Status PostgresStore::RecordMisses(const std::vector<Miss>& misses) {
  for (const Miss& miss : misses) HONE_RETURN_IF_ERROR(IsWellFormed(miss));
  return Change("record_misses", [&](Connection& db) -> absl::Status {
    for (const Miss& miss : misses) HONE_RETURN_IF_ERROR(CountMiss(db, miss));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<Miss>> PostgresStore::ListMisses(const std::string& target) {
  return readers_.Read([&](Connection& db) { return ReadMisses(db, target); });
}

absl::StatusOr<int64_t> PostgresStore::PushFinal(Connection& db, const Final& final) {
  HONE_ASSIGN_OR_RETURN(const int64_t id, InsertFinal(db, final));
  HONE_RETURN_IF_ERROR(
      TellJobs(db, final.task, final.signature,
               {final.job, 0, "final", FinalPayload(id, final), clock_.WallTimeNs()}));
  return id;
}

}  // namespace hone::tuning_db::postgres
