// A store in memory, which ends with the process. It is for tests, and shows what a store does.
#ifndef HONE_TUNING_DB_MEMORY_MEMORY_STORE_H_
#define HONE_TUNING_DB_MEMORY_MEMORY_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tuning_db/cursor.h"
#include "tuning_db/store.h"
#include "tuning_db/subscribers.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db {

// Batches call back before their call returns, so that tests are deterministic.
class MemoryStore : public Store {
 public:
  explicit MemoryStore(const Clock& clock) : clock_(clock) {}

  // memory_jobs.cc
  bool HasManyOwners() const override { return true; }
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
      std::function<void(const Change& change)> on_change) override;

  // memory_trials.cc
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

  // memory_log.cc
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

  absl::Status Retract(int64_t record, const std::string& reason) override;
  absl::StatusOr<Pruned> Prune(int64_t before_wall_ns, const PrunePlace& place,
                               int64_t most_rows) override;

  // Memory is never damaged.
  absl::StatusOr<std::vector<std::string>> Check() override { return std::vector<std::string>(); }

  // memory_grants.cc
  absl::StatusOr<Grant> AddGrant(const Grant& grant, int64_t overlap_ns) override;
  absl::StatusOr<std::vector<Grant>> ListGrants() override;
  absl::StatusOr<std::vector<Grant>> RevokeGrants(const std::string& name) override;

  // memory_quarantines.cc
  absl::StatusOr<Quarantine> SetQuarantine(const Quarantine& quarantine) override;
  absl::StatusOr<std::vector<Quarantine>> EndQuarantines(const std::string& worker,
                                                         const std::string& device) override;
  absl::StatusOr<std::vector<Quarantine>> ListQuarantines() override;

 private:
  using TrialKey = std::tuple<int64_t, std::string, std::string, Purpose, int64_t>;
  struct Life {
    std::string owner;
    int64_t until_ns = 0;
  };
  struct Rest {
    DeviceRest rest;
    int64_t until_ns = 0;
  };

  // Ids count from 1 without gaps.
  template <typename Row>
  static Row* Find(std::vector<Row>& rows, int64_t id) {
    return id >= 1 && id <= static_cast<int64_t>(rows.size()) ? &rows[static_cast<size_t>(id - 1)]
                                                              : nullptr;
  }
  static TrialKey KeyOf(const Trial& trial) {
    return {trial.task, trial.signature, trial.config_digest, trial.purpose, trial.round};
  }

  // Call everything below with the mutex held.
  absl::Status Renew(const Ownership& ownership, int64_t lease_ns);
  // How long the life stays in time; negative if it is not in time.
  int64_t LeftNs(int64_t epoch) const;
  // As MayWrite (transitions.h). Job 0 means no job: anybody may write what belongs to it.
  absl::Status MayWriteJob(int64_t job, const Ownership& ownership,
                           JobWrite what = JobWrite::kItself);
  absl::Status RequireOwners(int64_t task, int64_t job);
  int64_t EnsureTrial(const Trial& trial);
  absl::StatusOr<Trial> LeaseOne(const LeaseRequest& request);
  absl::StatusOr<Trial> ReleaseOne(const ReleaseRequest& request);
  absl::StatusOr<SettleResult> SettleOne(const Settlement& settlement);
  void SettleWith(Trial& trial, const Record& record);
  SettleResult ImportOne(const Trial& trial, const Record& record);
  // kNotFound unless Final::record is 0 or a record that the final may come from.
  absl::Status RequireConfirmed(const Final& final);
  // Whether the record that the final came from, if any, is not retracted.
  bool Counts(const Final& final);
  int64_t PushFinal(const Final& final);
  void PruneEvents(int64_t before_wall_ns, int64_t most_rows, Pruned& pruned);
  void PruneSamples(int64_t before_wall_ns, int64_t most_rows, Pruned& pruned);
  // Whether Prune may remove all but the least of the record's samples.
  bool AreSamplesSpare(const Record& record);
  bool Matches(const Record& record, const RecordFilter& filter);
  bool Matches(const Final& final, const RecordFilter& filter);
  // The newest matching final of each task and signature.
  std::map<FinalPlace, const Final*> NewestFinals(const RecordFilter& filter);
  int64_t AddEvent(int64_t job, const std::string& kind, const std::string& payload);
  int64_t AddEvent(int64_t job, const std::string& kind, const std::string& payload,
                   int64_t wall_time_ns);
  // Adds an event to every unfinished job that wants the task, and to `job` if it has not ended.
  void TellJobs(int64_t task, const std::string& signature, int64_t job, const std::string& kind,
                const std::string& payload, int64_t wall_time_ns);
  TaskProgress ProgressOf(const JobTask& wanted, int64_t job);

  const Clock& clock_;
  Subscribers subscribers_;
  std::mutex mutex_;  // guards all below
  int64_t last_epoch_ = kOldestEpoch;
  std::map<int64_t, Life> lives_;  // by epoch
  std::vector<Task> tasks_;
  std::map<std::pair<std::string, std::string>, int64_t> task_ids_;
  std::vector<Job> jobs_;
  std::map<int64_t, std::vector<TaskProgress>> ended_;  // how far jobs had come when they ended
  std::map<int64_t, std::vector<Event>> events_;
  std::vector<Trial> trials_;
  std::map<TrialKey, int64_t> trial_ids_;
  int64_t last_fence_ = 0;
  std::map<std::pair<std::string, std::string>, Rest> rests_;  // by worker and device
  std::vector<Record> records_;
  std::vector<Final> finals_;
  std::vector<ModelFinal> model_finals_;
  std::vector<Miss> misses_;
  std::vector<Grant> grants_;
  std::map<std::pair<std::string, std::string>, Quarantine> quarantines_;  // by worker and device
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_MEMORY_MEMORY_STORE_H_
