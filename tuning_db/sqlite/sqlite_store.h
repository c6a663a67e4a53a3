// The store in a SQLite file. Each method is one transaction of the commit queue, or of a reader.
#ifndef HONE_TUNING_DB_SQLITE_SQLITE_STORE_H_
#define HONE_TUNING_DB_SQLITE_SQLITE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/status.h"
#include "tuning_db/sqlite/commit_queue.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/database_use.h"
#include "tuning_db/sqlite/lock_file.h"
#include "tuning_db/sqlite/reader_pool.h"
#include "tuning_db/store.h"
#include "tuning_db/subscribers.h"

namespace hone::tuning_db::sqlite {

// What only the one writer has. Members are destroyed in reverse order, so the lock is released
// last.
struct WriterParts {
  WriterParts(std::unique_ptr<LockFile> l, std::unique_ptr<Connection> c,
              std::function<void()> committed)
      : lock(std::move(l)), db(std::move(c)), queue(db.get(), kMostWaiting, std::move(committed)) {}

  std::unique_ptr<LockFile> lock;
  std::unique_ptr<Connection> db;
  CommitQueue queue;
};

class SqliteStore final : public Store {
 public:
  SqliteStore(const std::string& path, std::unique_ptr<DatabaseUse> use, const Clock& clock,
              bool is_frozen)
      : path_(path), use_(std::move(use)), clock_(clock), readers_(path, is_frozen) {}

  void MakeWriter(std::unique_ptr<LockFile> lock, std::unique_ptr<Connection> db) {
    writer_.reset(new WriterParts{std::move(lock), std::move(db), [this] { TellChanges(); }});
  }

  // sqlite_jobs.cc
  bool HasManyOwners() const override { return false; }
  absl::StatusOr<Ownership> BeginEpoch(const std::string& owner, int64_t lease_ns) override;
  absl::StatusOr<std::vector<Job>> TakeJobs(const Ownership& ownership, int64_t lease_ns) override;
  absl::StatusOr<std::vector<int64_t>> RenewJobs(const Ownership& ownership,
                                                 int64_t lease_ns) override;
  absl::StatusOr<Job> SubmitJob(const Job& job) override;
  absl::StatusOr<Job> GetJob(int64_t id) override;
  absl::StatusOr<std::optional<Job>> JobOfClient(const std::string& client_id) override;
  absl::StatusOr<JobPage> ListJobs(const JobFilter& filter, Order order, const std::string& cursor,
                                   int64_t limit) override;
  absl::StatusOr<std::vector<Task>> TasksOfJob(int64_t job) override;
  absl::Status SetJobState(const Ownership& ownership, int64_t id, JobState state,
                           const std::string& message) override;
  absl::Status SetJobRan(const Ownership& ownership, int64_t id, int64_t ran_ns) override;
  absl::StatusOr<std::vector<std::vector<TaskProgress>>> ProgressOfJobs(
      const std::vector<int64_t>& jobs) override;
  absl::StatusOr<int64_t> AppendEvent(const Ownership& ownership, int64_t job,
                                      const std::string& kind, const std::string& payload) override;
  absl::StatusOr<std::vector<Event>> ListEvents(int64_t job, int64_t after_seq,
                                                int64_t limit) override;
  std::unique_ptr<Subscription> Subscribe(
      std::function<void(const tuning_db::Change& change)> on_change) override;

  // sqlite_trials.cc
  absl::StatusOr<int64_t> EnsureTask(const Task& task) override;
  absl::StatusOr<Task> GetTask(int64_t id) override;
  absl::StatusOr<std::optional<Task>> FindTask(const std::string& workload_digest,
                                               const std::string& target) override;
  absl::StatusOr<std::vector<Task>> TasksOfWorkload(const std::string& workload_digest) override;
  absl::StatusOr<std::vector<Trial>> Propose(const Ownership& ownership,
                                             const std::vector<Trial>& trials) override;
  absl::Status ProposeThen(const Ownership& ownership, const std::vector<Trial>& trials,
                           std::function<void(absl::StatusOr<std::vector<Trial>>)> done) override;
  absl::StatusOr<std::vector<SettleResult>> ImportMany(
      const std::vector<Measured>& entries) override;
  absl::StatusOr<std::vector<Trial>> OpenTrials(int64_t job) override;
  absl::StatusOr<int64_t> CountTrials(int64_t task, const std::string& signature,
                                      Purpose purpose) override;
  absl::Status LeaseMany(std::vector<LeaseRequest> requests,
                         std::function<void(LeaseAnswers)> done) override;
  absl::Status ReleaseMany(std::vector<ReleaseRequest> requests,
                           std::function<void(ReleaseAnswers)> done) override;
  absl::Status SettleMany(std::vector<Settlement> settlements,
                          std::function<void(SettleAnswers)> done) override;
  absl::Status GetMany(std::vector<int64_t> trials, std::function<void(GetAnswers)> done) override;
  absl::Status SetDeviceRest(const DeviceRest& rest) override;
  absl::StatusOr<std::vector<DeviceRest>> ListDeviceRests() override;

  // sqlite_log.cc
  absl::StatusOr<RecordPage> ListRecords(const RecordFilter& filter, Order order,
                                         const std::string& cursor, int64_t limit) override;
  absl::StatusOr<int64_t> AddFinal(const Final& final) override;
  absl::StatusOr<std::optional<Final>> NewestFinal(int64_t task,
                                                   const std::string& signature) override;
  absl::StatusOr<RecordDetail> GetRecord(int64_t id) override;
  absl::StatusOr<LogStats> Stats(const RecordFilter& filter) override;
  absl::StatusOr<FinalPage> ListFinals(const RecordFilter& filter, const std::string& cursor,
                                       int64_t limit) override;
  absl::StatusOr<int64_t> AddModelFinal(const ModelFinal& final) override;
  absl::StatusOr<std::optional<ModelFinal>> NewestModelFinal(const std::string& skeleton,
                                                             const std::string& target) override;
  absl::Status RecordMisses(const std::vector<Miss>& misses) override;
  absl::StatusOr<std::vector<Miss>> ListMisses(const std::string& target) override;

  // sqlite_upkeep.cc
  CommitTotals Commits() const override {
    return writer_ == nullptr ? CommitTotals() : writer_->queue.totals();
  }
  absl::StatusOr<std::vector<std::string>> Check() override;
  absl::Status Retract(int64_t record, const std::string& reason) override;
  absl::StatusOr<Pruned> Prune(int64_t before_wall_ns, const PrunePlace& place,
                               int64_t most_rows) override;

  // sqlite_grants.cc
  absl::StatusOr<Grant> AddGrant(const Grant& grant, int64_t overlap_ns) override;
  absl::StatusOr<std::vector<Grant>> ListGrants() override;
  absl::StatusOr<std::vector<Grant>> RevokeGrants(const std::string& name) override;

  // sqlite_quarantines.cc
  absl::StatusOr<Quarantine> SetQuarantine(const Quarantine& quarantine) override;
  absl::StatusOr<std::vector<Quarantine>> EndQuarantines(const std::string& worker,
                                                         const std::string& device) override;
  absl::StatusOr<std::vector<Quarantine>> ListQuarantines() override;

 private:
  absl::Status ReadOnly() const;
  absl::Status Change(std::string_view name, const std::function<absl::Status(Connection&)>& run);
  template <typename Answer, typename Body>
  absl::StatusOr<Answer> Change(std::string_view name, const Body& body) {
    absl::StatusOr<Answer> answer = absl::UnknownError("not run");
    HONE_RETURN_IF_ERROR(Change(name, [&](Connection& db) {
      answer = body(db);
      return answer.status();
    }));
    return answer;
  }
  // Posts one change for each entry, which runs `step(db, entry)`.
  template <typename Answer, typename Entry, typename Step>
  absl::Status ChangeMany(std::string_view name, std::vector<Entry> entries, const Step& step,
                          std::function<void(std::vector<absl::StatusOr<Answer>>)> done);

  absl::StatusOr<Trial> LeaseOne(Connection& db, const LeaseRequest& request);
  absl::StatusOr<Trial> ReleaseOne(Connection& db, const ReleaseRequest& request);
  absl::StatusOr<SettleResult> SettleOne(Connection& db, const Settlement& settlement);
  absl::StatusOr<SettleResult> ImportOne(Connection& db, const Trial& trial, const Record& record);
  // These two return the record's id.
  absl::StatusOr<int64_t> SettleWith(Connection& db, Trial& trial, const Record& record);
  // Adds the record of a settled trial, and tells the jobs that want its task.
  absl::StatusOr<int64_t> AddRecord(Connection& db, const Trial& trial, const Record& record);
  absl::StatusOr<int64_t> PushFinal(Connection& db, const Final& final);
  absl::StatusOr<int64_t> AddEvent(Connection& db, int64_t job, const std::string& kind,
                                   const std::string& payload);
  // Tells subscribers of the job once the present change is committed.
  void Changed(int64_t job) { changed_.insert(job); }
  // Called on the queue's thread after each commit.
  void TellChanges();

  const std::string path_;
  const std::unique_ptr<DatabaseUse> use_;  // outlives the connections
  const Clock& clock_;
  Subscribers subscribers_;
  std::set<int64_t> changed_;            // jobs; used by the queue's thread only
  std::unique_ptr<WriterParts> writer_;  // null: read only
  ReaderPool readers_;                   // closed before the writer, which checkpoints last
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_SQLITE_STORE_H_
