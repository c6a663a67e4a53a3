// How the values of types.h lie in the tables. Each function is a step of its caller's transaction;
// those that write run under the lock of writers, one at a time over all daemons.
#ifndef HONE_TUNING_DB_POSTGRES_ROWS_H_
#define HONE_TUNING_DB_POSTGRES_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/postgres/connection.h"
#include "tuning_db/store.h"
#include "tuning_db/transitions.h"
#include "tuning_db/types.h"

namespace hone::tuning_db::postgres {

// The id of a text in `texts`, added if new.
absl::StatusOr<int64_t> Intern(Connection& db, const std::string& text);
// The same, and NULL for an empty text.
absl::StatusOr<std::optional<int64_t>> InternSome(Connection& db, const std::string& text);
// The id of a text, if it is there.
absl::StatusOr<std::optional<int64_t>> FindText(Connection& db, const std::string& text);
// kNotFound where the table has no row `id`; `what` is the word for it.
absl::Status Require(Connection& db, const std::string& table, const std::string& what, int64_t id);
// kNotFound where there is no such task or job; job 0 is none.
absl::Status RequireOwners(Connection& db, int64_t task, int64_t job);
// The first columns of all rows.
std::vector<int64_t> IdsOf(const Rows& rows);

absl::StatusOr<Task> ReadTask(Connection& db, int64_t id);
absl::StatusOr<std::vector<Task>> ReadTasks(Connection& db, const std::string& workload_digest);
absl::StatusOr<std::optional<Task>> FindTask(Connection& db, const std::string& workload_digest,
                                             const std::string& target);
absl::StatusOr<int64_t> EnsureTask(Connection& db, const Task& task);

absl::StatusOr<Job> ReadJob(Connection& db, int64_t id);
absl::StatusOr<std::optional<int64_t>> FindJob(Connection& db, const std::string& client_id);
absl::StatusOr<JobPage> ReadJobs(Connection& db, const JobFilter& filter, Order order,
                                 const std::string& cursor, int64_t limit);
absl::StatusOr<std::vector<Job>> ReadJobs(Connection& db, const std::vector<int64_t>& ids);
// In the job's order.
absl::StatusOr<std::vector<Task>> ReadTasksOfJob(Connection& db, int64_t job);
absl::StatusOr<int64_t> InsertJob(Connection& db, const Job& job);

// The next value of a row of `counters`.
absl::StatusOr<int64_t> NextOf(Connection& db, const std::string& counter);
// A life of the owner, which has no other from then on, in time for so long.
absl::StatusOr<Ownership> InsertLife(Connection& db, const std::string& owner, int64_t lease_ns);
// How much of its time a life has, in nanoseconds; negative where it is not in time.
absl::StatusOr<int64_t> TimeLeft(Connection& db, const Ownership& ownership);
absl::Status RenewLife(Connection& db, const Ownership& ownership, int64_t lease_ns);
// Makes jobs that have not ended and whose owner is not in time this owner's; returns their ids.
absl::StatusOr<std::vector<int64_t>> TakeLostJobs(Connection& db, const Ownership& ownership);
absl::StatusOr<std::vector<int64_t>> OwnUnfinishedJobs(Connection& db, int64_t epoch);
// As MayWrite of transitions.h; job 0 is none, and what is of it is anybody's.
absl::Status MayWriteJob(Connection& db, int64_t job, const Ownership& ownership,
                         JobWrite what = JobWrite::kItself);

absl::Status WriteDeviceRest(Connection& db, const DeviceRest& rest);
absl::StatusOr<std::vector<DeviceRest>> ReadDeviceRests(Connection& db);

// Whoever listens is told of the job once the transaction is committed (listener.h).
absl::Status TellListeners(Connection& db, int64_t job);
// The event's number.
absl::StatusOr<int64_t> InsertEvent(Connection& db, const Event& event);
// For every job that has not ended and wants the task, and for `job` where it has not: that
// something happened, or that a trial was settled, which its record tells.
absl::Status TellJobs(Connection& db, int64_t task, const std::string& signature,
                      const Event& event);
absl::Status TellJobsOfRecord(Connection& db, const Trial& trial, int64_t record);
absl::StatusOr<std::vector<Event>> ReadEvents(Connection& db, int64_t job, int64_t after_seq,
                                              int64_t limit);

absl::StatusOr<Trial> ReadTrial(Connection& db, int64_t id);
absl::StatusOr<std::vector<Trial>> ReadOpenTrials(Connection& db, int64_t job);
// The id of the trial with the same key.
absl::StatusOr<std::optional<int64_t>> FindTrial(Connection& db, const Trial& trial);
// The id of a row that is new, in the state that the trial says; not kLeased.
absl::StatusOr<int64_t> AddTrial(Connection& db, const Trial& trial);
// The row with the trial's key, added as proposed if new.
absl::StatusOr<Trial> EnsureTrial(Connection& db, const Trial& trial);
// Writes what transitions change: state, attempt, fence, worker, strikes, the lease.
absl::Status UpdateTrial(Connection& db, const Trial& trial);

// The trial is the one that it settles, whose progress it is. Returns the record's id.
absl::StatusOr<int64_t> InsertRecord(Connection& db, const Trial& trial, const Record& record);
// By id, in ascending order.
absl::StatusOr<std::vector<Record>> ReadRecords(Connection& db, const std::vector<int64_t>& ids);
absl::StatusOr<RecordPage> ListRecords(Connection& db, const RecordFilter& filter, Order order,
                                       const std::string& cursor, int64_t limit);
absl::StatusOr<RecordDetail> ReadRecordDetail(Connection& db, int64_t id);
absl::StatusOr<LogStats> ReadStats(Connection& db, const RecordFilter& filter);
absl::Status RetractRecord(Connection& db, int64_t id, const std::string& reason, int64_t now_ns);

// What the settled trial adds to the progress of its task and job.
absl::Status AddProgress(Connection& db, const Trial& trial, const Record& record);
// Anew from the records, where one of them was retracted; `signature` is a text's id.
absl::Status RecountProgress(Connection& db, int64_t task, int64_t signature);
absl::StatusOr<std::vector<std::vector<TaskProgress>>> ReadProgress(
    Connection& db, const std::vector<int64_t>& jobs);
// What ReadProgress says of the job now is what it says from now on: other jobs may go on with its
// tasks when it has ended.
absl::Status KeepProgress(Connection& db, int64_t job);
// Tasks and jobs whose progress is not what their records give, in sentences.
absl::StatusOr<std::vector<std::string>> CheckProgress(Connection& db);

// Steps of Upkeep::Prune.
absl::StatusOr<Pruned> PruneEvents(Connection& db, int64_t before_wall_ns, const PrunePlace& place,
                                   int64_t most_rows);
absl::StatusOr<Pruned> PruneSamples(Connection& db, int64_t before_wall_ns, const PrunePlace& place,
                                    int64_t most_rows);

absl::StatusOr<int64_t> InsertFinal(Connection& db, const Final& final);
// As LogStore::ListFinals.
absl::StatusOr<FinalPage> ReadFinals(Connection& db, const RecordFilter& filter,
                                     const std::string& cursor, int64_t limit);
// How many there are of them.
absl::StatusOr<int64_t> CountFinals(Connection& db, const RecordFilter& filter);
absl::StatusOr<std::optional<Final>> ReadNewestFinal(Connection& db, int64_t task,
                                                     const std::string& signature);

absl::StatusOr<int64_t> InsertModelFinal(Connection& db, const ModelFinal& final);
absl::StatusOr<std::optional<ModelFinal>> ReadNewestModelFinal(Connection& db,
                                                               const std::string& skeleton,
                                                               const std::string& target);

absl::Status CountMiss(Connection& db, const Miss& miss);
absl::StatusOr<std::vector<Miss>> ReadMisses(Connection& db, const std::string& target);

// Everything that does not hold, in sentences.
absl::StatusOr<std::vector<std::string>> CheckDatabase(Connection& db);

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_ROWS_H_
