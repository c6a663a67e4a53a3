// The store in which nothing outlives the process: for tests, and the model of what a store does.
#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "support/status.h"
#include "tuning_db/store.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db {
namespace {

// Ids count from 1 without gaps.
template <typename Row>
Row* Find(std::vector<Row>& rows, int64_t id) {
  return id >= 1 && id <= static_cast<int64_t>(rows.size()) ? &rows[static_cast<size_t>(id - 1)]
                                                            : nullptr;
}

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const Clock& clock) : clock_(clock) {}

  absl::StatusOr<int64_t> EnsureTask(const Task& task) override {
    const std::lock_guard lock(mutex_);
    const auto [it, is_new] = task_ids_.try_emplace({task.workload_digest, task.target}, 0);
    if (is_new) {
      it->second = static_cast<int64_t>(tasks_.size()) + 1;
      tasks_.push_back(task);
      tasks_.back().id = it->second;
    }
    return it->second;
  }

  absl::StatusOr<Task> GetTask(int64_t id) override {
    const std::lock_guard lock(mutex_);
    const Task* task = Find(tasks_, id);
    if (task == nullptr) return NoSuch("task", id);
    return *task;
  }

  absl::StatusOr<std::optional<Task>> FindTask(const std::string& workload_digest,
                                               const std::string& target) override {
    const std::lock_guard lock(mutex_);
    const auto it = task_ids_.find({workload_digest, target});
    if (it == task_ids_.end()) return std::optional<Task>();
    return std::optional<Task>(*Find(tasks_, it->second));
  }

  absl::StatusOr<std::vector<Task>> TasksOfWorkload(const std::string& workload_digest) override {
    const std::lock_guard lock(mutex_);
    std::vector<Task> found;
    std::copy_if(tasks_.begin(), tasks_.end(), std::back_inserter(found),
                 [&](const Task& task) { return task.workload_digest == workload_digest; });
    return found;
  }

  absl::StatusOr<Job> SubmitJob(const Job& job) override {
    HONE_RETURN_IF_ERROR(IsWellFormed(job));
    const std::lock_guard lock(mutex_);
    for (const Job& known : jobs_) {
      if (known.client_id == job.client_id) return known;
    }
    for (const JobTask& task : job.tasks) {
      if (Find(tasks_, task.task) == nullptr) return NoSuch("task", task.task);
    }
    Job row = job;
    row.id = static_cast<int64_t>(jobs_.size()) + 1;
    row.state = JobState::kQueued;
    row.ran_ns = 0;
    jobs_.push_back(row);
    return row;
  }

  absl::StatusOr<Job> GetJob(int64_t id) override {
    const std::lock_guard lock(mutex_);
    const Job* job = Find(jobs_, id);
    if (job == nullptr) return NoSuch("job", id);
    return *job;
  }

  absl::StatusOr<std::vector<Job>> ListJobs(int64_t after_id, int64_t limit) override {
    const std::lock_guard lock(mutex_);
    std::vector<Job> page;
    for (const Job& job : jobs_) {
      if (limit > 0 && static_cast<int64_t>(page.size()) == limit) break;
      if (job.id > after_id) page.push_back(job);
    }
    return page;
  }

  absl::Status SetJobState(int64_t id, JobState state, const std::string& message) override {
    const std::lock_guard lock(mutex_);
    Job* job = Find(jobs_, id);
    if (job == nullptr) return NoSuch("job", id);
    HONE_RETURN_IF_ERROR(MaySetState(*job, state));
    if (HasEnded(job->state)) return absl::OkStatus();
    job->state = state;
    job->message = message;
    AddEvent(id, "state", StatePayload(state, message));
    return absl::OkStatus();
  }

  absl::Status SetJobRan(int64_t id, int64_t ran_ns) override {
    const std::lock_guard lock(mutex_);
    Job* job = Find(jobs_, id);
    if (job == nullptr) return NoSuch("job", id);
    HONE_RETURN_IF_ERROR(MaySetRan(*job));
    job->ran_ns = ran_ns;
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> AppendEvent(int64_t job, const std::string& kind,
                                      const std::string& payload) override {
    const std::lock_guard lock(mutex_);
    if (Find(jobs_, job) == nullptr) return NoSuch("job", job);
    return AddEvent(job, kind, payload);
  }

  absl::StatusOr<std::vector<Event>> ListEvents(int64_t job, int64_t after_seq,
                                                int64_t limit) override {
    const std::lock_guard lock(mutex_);
    if (Find(jobs_, job) == nullptr) return NoSuch("job", job);
    std::vector<Event> page;
    for (const Event& event : events_[job]) {
      if (limit > 0 && static_cast<int64_t>(page.size()) == limit) break;
      if (event.seq > after_seq) page.push_back(event);
    }
    return page;
  }

  absl::StatusOr<std::vector<Trial>> Propose(const std::vector<Trial>& trials) override {
    const std::lock_guard lock(mutex_);
    for (const Trial& trial : trials) HONE_RETURN_IF_ERROR(RequireOwners(trial.task, trial.job));
    std::vector<Trial> rows;
    for (const Trial& trial : trials) rows.push_back(*Find(trials_, EnsureTrial(trial)));
    return rows;
  }

  absl::StatusOr<Trial> Lease(int64_t id, const std::string& worker) override {
    const std::lock_guard lock(mutex_);
    Trial* trial = Find(trials_, id);
    if (trial == nullptr) return NoSuch("trial", id);
    HONE_RETURN_IF_ERROR(MayLease(*trial));
    LeaseTo(*trial, worker);
    return *trial;
  }

  absl::Status Release(int64_t id, int64_t fence) override {
    const std::lock_guard lock(mutex_);
    Trial* trial = Find(trials_, id);
    if (trial == nullptr) return NoSuch("trial", id);
    HONE_RETURN_IF_ERROR(MayRelease(*trial, fence));
    trial->state = TrialState::kProposed;
    return absl::OkStatus();
  }

  absl::StatusOr<SettleResult> Settle(int64_t fence, const Record& record) override {
    const std::lock_guard lock(mutex_);
    Trial* trial = Find(trials_, record.trial);
    if (trial == nullptr) return NoSuch("trial", record.trial);
    const SettleResult result = JudgeSettle(*trial, fence);
    if (result == SettleResult::kSettled) SettleWith(*trial, record);
    return result;
  }

  absl::StatusOr<SettleResult> SettleFinal(int64_t fence, const Record& record,
                                           const Final& final) override {
    HONE_RETURN_IF_ERROR(IsWellFormed(final));
    const std::lock_guard lock(mutex_);
    Trial* trial = Find(trials_, record.trial);
    if (trial == nullptr) return NoSuch("trial", record.trial);
    HONE_RETURN_IF_ERROR(IsFinalOf(final, *trial, record));
    HONE_RETURN_IF_ERROR(RequireOwners(final.task, final.job));
    const SettleResult result = JudgeSettle(*trial, fence);
    if (result != SettleResult::kSettled) return result;
    SettleWith(*trial, record);
    PushFinal(final);
    return result;
  }

  absl::StatusOr<SettleResult> Import(const Trial& trial, const Record& record) override {
    const std::lock_guard lock(mutex_);
    if (trial_ids_.contains(KeyOf(trial))) return SettleResult::kDuplicate;
    HONE_RETURN_IF_ERROR(RequireOwners(trial.task, trial.job));
    Trial& row = *Find(trials_, EnsureTrial(trial));
    LeaseTo(row, kImporter);
    SettleWith(row, record);
    return SettleResult::kSettled;
  }

  absl::StatusOr<std::vector<Trial>> OpenTrials(int64_t job) override {
    const std::lock_guard lock(mutex_);
    std::vector<Trial> open;
    for (const Trial& trial : trials_) {
      const bool is_wanted = job == 0 || trial.job == job;
      if (is_wanted && trial.state != TrialState::kSettled) open.push_back(trial);
    }
    return open;
  }

  absl::StatusOr<int64_t> CountTrials(int64_t task, const std::string& signature,
                                      Purpose purpose) override {
    const std::lock_guard lock(mutex_);
    return std::count_if(trials_.begin(), trials_.end(), [&](const Trial& trial) {
      return trial.task == task && trial.signature == signature && trial.purpose == purpose;
    });
  }

  absl::StatusOr<std::vector<Record>> Records(const RecordFilter& filter) override {
    const std::lock_guard lock(mutex_);
    std::vector<Record> page;
    const auto visit = [&](const Record& record) {
      if (filter.limit > 0 && static_cast<int64_t>(page.size()) == filter.limit) return;
      if (!Matches(record, filter)) return;
      page.push_back(record);
      page.back().of_trial = *Find(trials_, record.trial);
    };
    if (filter.newest_first) {
      std::for_each(records_.rbegin(), records_.rend(), visit);
    } else {
      std::for_each(records_.begin(), records_.end(), visit);
    }
    return page;
  }

  absl::StatusOr<int64_t> AddFinal(const Final& final) override {
    HONE_RETURN_IF_ERROR(IsWellFormed(final));
    const std::lock_guard lock(mutex_);
    HONE_RETURN_IF_ERROR(RequireOwners(final.task, final.job));
    return PushFinal(final);
  }

  absl::StatusOr<std::optional<Final>> NewestFinal(int64_t task,
                                                   const std::string& signature) override {
    const std::lock_guard lock(mutex_);
    const auto it = std::find_if(finals_.rbegin(), finals_.rend(), [&](const Final& final) {
      return final.task == task && final.signature == signature;
    });
    if (it == finals_.rend()) return std::optional<Final>();
    return std::optional<Final>(*it);
  }

  absl::StatusOr<int64_t> AddModelFinal(const ModelFinal& final) override {
    HONE_RETURN_IF_ERROR(IsWellFormed(final));
    const std::lock_guard lock(mutex_);
    model_finals_.push_back(final);
    model_finals_.back().id = static_cast<int64_t>(model_finals_.size());
    return model_finals_.back().id;
  }

  absl::StatusOr<std::optional<ModelFinal>> NewestModelFinal(const std::string& skeleton,
                                                             const std::string& target) override {
    const std::lock_guard lock(mutex_);
    const auto newest =
        std::find_if(model_finals_.rbegin(), model_finals_.rend(), [&](const ModelFinal& final) {
          return final.skeleton == skeleton && final.target == target;
        });
    if (newest == model_finals_.rend()) return std::optional<ModelFinal>();
    return std::optional<ModelFinal>(*newest);
  }

  absl::Status RecordMiss(const Miss& miss) override {
    const std::lock_guard lock(mutex_);
    for (Miss& known : misses_) {
      if (std::tie(known.workload_digest, known.signature, known.target, known.model) !=
          std::tie(miss.workload_digest, miss.signature, miss.target, miss.model)) {
        continue;
      }
      known.tier = miss.tier;
      known.count += miss.count;
      return absl::OkStatus();
    }
    misses_.push_back(miss);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Miss>> ListMisses(const std::string& target) override {
    const std::lock_guard lock(mutex_);
    std::vector<Miss> found;
    std::copy_if(misses_.begin(), misses_.end(), std::back_inserter(found),
                 [&](const Miss& miss) { return target.empty() || miss.target == target; });
    return found;
  }

  // What a file could lose, memory cannot.
  absl::StatusOr<std::vector<std::string>> Check() override { return std::vector<std::string>(); }

 private:
  using TrialKey = std::tuple<int64_t, std::string, std::string, Purpose, int64_t>;

  static TrialKey KeyOf(const Trial& trial) {
    return {trial.task, trial.signature, trial.config_digest, trial.purpose, trial.round};
  }

  // Job 0 is none.
  absl::Status RequireOwners(int64_t task, int64_t job) {
    if (Find(tasks_, task) == nullptr) return NoSuch("task", task);
    if (job != 0 && Find(jobs_, job) == nullptr) return NoSuch("job", job);
    return absl::OkStatus();
  }

  int64_t EnsureTrial(const Trial& trial) {
    const auto [it, is_new] = trial_ids_.try_emplace(KeyOf(trial), 0);
    if (!is_new) return it->second;
    it->second = static_cast<int64_t>(trials_.size()) + 1;
    Trial& row = trials_.emplace_back(trial);
    row.id = it->second;
    row.state = TrialState::kProposed;
    row.attempt = 0;
    row.fence = 0;
    row.worker.clear();
    return it->second;
  }

  void LeaseTo(Trial& trial, const std::string& worker) {
    trial.state = TrialState::kLeased;
    trial.attempt += 1;
    trial.fence = ++last_fence_;
    trial.worker = worker;
  }

  void SettleWith(Trial& trial, const Record& record) {
    trial.state = TrialState::kSettled;
    records_.push_back(record);
    records_.back().id = static_cast<int64_t>(records_.size());
    records_.back().trial = trial.id;
    if (trial.job != 0) AddEvent(trial.job, "trial_settled", SettledPayload(trial, record));
  }

  int64_t PushFinal(const Final& final) {
    finals_.push_back(final);
    const int64_t id = static_cast<int64_t>(finals_.size());
    finals_.back().id = id;
    if (final.job != 0) AddEvent(final.job, "final", FinalPayload(id, final));
    return id;
  }

  bool Matches(const Record& record, const RecordFilter& filter) {
    const Trial& trial = *Find(trials_, record.trial);
    const Task& task = *Find(tasks_, trial.task);
    const bool is_in_page = !filter.newest_first   ? record.id > filter.after_id
                            : filter.after_id == 0 ? true
                                                   : record.id < filter.after_id;
    return is_in_page && (!filter.task || *filter.task == trial.task) &&
           (!filter.signature || *filter.signature == trial.signature) &&
           (!filter.job || *filter.job == trial.job) &&
           (!filter.purpose || *filter.purpose == trial.purpose) &&
           (filter.target.empty() || filter.target == task.target) &&
           task.workload.find(filter.workload_substring) != std::string::npos;
  }

  int64_t AddEvent(int64_t job, const std::string& kind, const std::string& payload) {
    std::vector<Event>& events = events_[job];
    const int64_t seq = static_cast<int64_t>(events.size()) + 1;
    events.push_back({job, seq, kind, payload, clock_.WallTimeNs()});
    return seq;
  }

  const Clock& clock_;
  std::mutex mutex_;  // guards all below
  std::vector<Task> tasks_;
  std::map<std::pair<std::string, std::string>, int64_t> task_ids_;
  std::vector<Job> jobs_;
  std::map<int64_t, std::vector<Event>> events_;
  std::vector<Trial> trials_;
  std::map<TrialKey, int64_t> trial_ids_;
  int64_t last_fence_ = 0;
  std::vector<Record> records_;
  std::vector<Final> finals_;
  std::vector<ModelFinal> model_finals_;
  std::vector<Miss> misses_;
};

}  // namespace

std::unique_ptr<Store> MakeMemoryStore(const Clock& clock) {
  return std::make_unique<MemoryStore>(clock);
}

}  // namespace hone::tuning_db
