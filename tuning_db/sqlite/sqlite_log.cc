// What is asked of the store in SQLite.
#include "support/status.h"
#include "tuning_db/sqlite/check.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/sqlite_store.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<std::vector<Record>> SqliteStore::Records(const RecordFilter& filter) {
  return readers_.Read([&](Connection& db) { return ReadRecords(db, filter); });
}

absl::StatusOr<int64_t> SqliteStore::AddFinal(const Final& final) {
  HONE_RETURN_IF_ERROR(IsWellFormed(final));
  return Change<int64_t>("add_final", [&](Connection& db) { return PushFinal(db, final); });
}

absl::StatusOr<std::optional<Final>> SqliteStore::NewestFinal(int64_t task,
                                                              const std::string& signature) {
  return readers_.Read([&](Connection& db) { return ReadNewestFinal(db, task, signature); });
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

absl::Status SqliteStore::RecordMiss(const Miss& miss) {
  return Change("record_miss", [&](Connection& db) { return CountMiss(db, miss); });
}

absl::StatusOr<std::vector<Miss>> SqliteStore::ListMisses(const std::string& target) {
  return readers_.Read([&](Connection& db) { return ReadMisses(db, target); });
}

absl::StatusOr<std::vector<std::string>> SqliteStore::Check() {
  return readers_.Read([](Connection& db) { return CheckDatabase(db); });
}

absl::StatusOr<int64_t> SqliteStore::PushFinal(Connection& db, const Final& final) {
  HONE_ASSIGN_OR_RETURN(const int64_t id, InsertFinal(db, final));
  if (final.job == 0) return id;
  HONE_RETURN_IF_ERROR(AddEvent(db, final.job, "final", FinalPayload(id, final)).status());
  return id;
}

}  // namespace hone::tuning_db::sqlite
