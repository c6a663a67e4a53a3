// Reads and writes the values of types.h as rows. Each function is a step of its caller's
// transaction.
#ifndef HONE_TUNING_DB_SQLITE_ROWS_H_
#define HONE_TUNING_DB_SQLITE_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/store.h"
#include "tuning_db/transitions.h"
#include "tuning_db/types.h"

namespace hone::tuning_db::sqlite {

// The id of a text in `texts`, added if new.
absl::StatusOr<int64_t> Intern(Connection& db, const std::string& text);
// The same, but nullopt (NULL) for an empty text.
absl::StatusOr<std::optional<int64_t>> InternSome(Connection& db, const std::string& text);
// The id of a text, if it is there.
absl::StatusOr<std::optional<int64_t>> FindText(Connection& db, const std::string& text);
// kNotFound if the table has no row `id`; the message calls it `what`.
absl::Status Require(Connection& db, const std::string& table, const std::string& what, int64_t id);

absl::StatusOr<Task> ReadTask(Connection& db, int64_t id);
absl::StatusOr<std::vector<Task>> ReadTasks(Connection& db, const std::string& workload_digest);
absl::StatusOr<std::optional<Task>> FindTask(Connection& db, const std::string& workload_digest,
                                             const std::string& target);
absl::StatusOr<int64_t> EnsureTask(Connection& db, const Task& task);

absl::StatusOr<Job> ReadJob(Connection& db, int64_t id);
absl::StatusOr<std::optional<int64_t>> FindJob(Connection& db, const std::string& client_id);
absl::StatusOr<JobPage> ReadJobs(Connection& db, const JobFilter& filter, Order order,
                                 const std::string& cursor, int64_t limit);
// In the job's order.
absl::StatusOr<std::vector<Task>> ReadTasksOfJob(Connection& db, int64_t job);
absl::StatusOr<int64_t> InsertJob(Connection& db, const Job& job);

// The next value of a row of `counters`.
absl::StatusOr<int64_t> NextOf(Connection& db, const std::string& counter);
// Adds a life of the owner, in time until `until_ns`, and removes its older ones.
absl::StatusOr<Ownership> InsertLife(Connection& db, const std::string& owner, int64_t until_ns);
// The point in time until which the life is in time (JobStore::HasManyOwners).
absl::StatusOr<int64_t> ReadLife(Connection& db, const Ownership& ownership);
absl::Status RenewLife(Connection& db, const Ownership& ownership, int64_t until_ns);
// The ids of the unfinished jobs of this epoch, or of all others if not `is_own`, sorted.
absl::StatusOr<std::vector<int64_t>> OwnUnfinishedJobs(Connection& db, int64_t epoch, bool is_own);
// As MayWrite (transitions.h). Job 0 means no job: anybody may write what belongs to it.
absl::Status MayWriteJob(Connection& db, int64_t job, const Ownership& ownership,
                         JobWrite what = JobWrite::kItself);

absl::Status WriteDeviceRest(Connection& db, const DeviceRest& rest, int64_t now_ns);
absl::StatusOr<std::vector<DeviceRest>> ReadDeviceRests(Connection& db, int64_t now_ns);

// Returns the event's number.
absl::StatusOr<int64_t> InsertEvent(Connection& db, const Event& event);
// Adds the event that a trial was settled. Its payload is made from the record when it is read.
absl::Status InsertSettledEvent(Connection& db, int64_t job, int64_t record);
absl::StatusOr<std::vector<Event>> ReadEvents(Connection& db, int64_t job, int64_t after_seq,
                                              int64_t limit);

absl::StatusOr<Trial> ReadTrial(Connection& db, int64_t id);
absl::StatusOr<std::vector<Trial>> ReadOpenTrials(Connection& db, int64_t job);
// The id of the trial with the same key.
absl::StatusOr<std::optional<int64_t>> FindTrial(Connection& db, const Trial& trial);
// kNotFound if the trial's task or job does not exist.
absl::Status RequireOwners(Connection& db, const Trial& trial);
// Adds a row in the trial's state, which must not be kLeased, and returns its id.
absl::StatusOr<int64_t> AddTrial(Connection& db, const Trial& trial);
// Returns the row with the trial's key, which is added as proposed if new.
absl::StatusOr<Trial> EnsureTrial(Connection& db, const Trial& trial);
// Writes the fields that transitions change: state, attempt, fence, worker, strikes, the lease.
absl::Status UpdateTrial(Connection& db, const Trial& trial);

// Adds the record that settles `trial`, and its progress. Returns the record's id.
absl::StatusOr<int64_t> InsertRecord(Connection& db, const Trial& trial, const Record& record);
absl::StatusOr<Record> ReadRecord(Connection& db, int64_t id);
absl::StatusOr<RecordPage> ReadRecords(Connection& db, const RecordFilter& filter, Order order,
                                       const std::string& cursor, int64_t limit);
absl::StatusOr<RecordDetail> ReadRecordDetail(Connection& db, int64_t id);
absl::StatusOr<LogStats> ReadStats(Connection& db, const RecordFilter& filter);
absl::Status RetractRecord(Connection& db, int64_t id, const std::string& reason, int64_t now_ns);

// Steps of Upkeep::Prune.
absl::StatusOr<Pruned> PruneEvents(Connection& db, int64_t before_wall_ns, const PrunePlace& place,
                                   int64_t most_rows);
absl::StatusOr<Pruned> PruneSamples(Connection& db, int64_t before_wall_ns, const PrunePlace& place,
                                    int64_t most_rows);

absl::StatusOr<int64_t> InsertFinal(Connection& db, const Final& final);
// As LogStore::ListFinals.
absl::StatusOr<FinalPage> ReadFinals(Connection& db, const RecordFilter& filter,
                                     const std::string& cursor, int64_t limit);
// How many finals ReadFinals lists for the filter.
absl::StatusOr<int64_t> CountFinals(Connection& db, const RecordFilter& filter);
absl::StatusOr<std::optional<Final>> ReadNewestFinal(Connection& db, int64_t task,
                                                     const std::string& signature);

absl::StatusOr<int64_t> InsertModelFinal(Connection& db, const ModelFinal& final);
absl::StatusOr<std::optional<ModelFinal>> ReadNewestModelFinal(Connection& db,
                                                               const std::string& skeleton,
                                                               const std::string& target);

absl::Status CountMiss(Connection& db, const Miss& miss);
absl::StatusOr<std::vector<Miss>> ReadMisses(Connection& db, const std::string& target);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_ROWS_H_
