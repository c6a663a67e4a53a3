// Accepts requests for jobs: checks them, makes their tasks, and hands them to the tuning loop.
#ifndef HONE_TUNER_SERVICE_JOB_DESK_H_
#define HONE_TUNER_SERVICE_JOB_DESK_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/tuning.pb.h"
#include "tuner/executor.h"
#include "tuner/job_limits.h"
#include "tuner/jobs/task_runner.h"
#include "tuner/lowerer.h"
#include "tuner/search.h"
#include "tuner/service/job_quota.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// The most submissions that wait to be read. One more gets kResourceExhausted.
inline constexpr int kMostSubmissions = 16;

// Thread-safe. Everything in its parts outlives it.
class JobDesk {
 public:
  struct Parts {
    tuning_db::Store* store = nullptr;
    Lowerer* lowerer = nullptr;
    std::function<Search*(const std::string& name)> search;
    // The targets of the devices that are connected, each once.
    std::function<std::vector<std::string>()> targets;
    // Called when the job is in the store, with the contexts of its tasks that were opened to check
    // them.
    std::function<void(int64_t job, TaskContexts contexts)> submitted;
    // Workloads are parsed and jobs stored on it, one after the other.
    Executor* executor = nullptr;
    tuning_db::Ownership ownership;  // of the jobs: the daemon in this life
    bool is_private = false;         // whether they end with the daemon's client
    Quota quota;
  };
  // Called once, from any thread.
  using Done = std::function<void(absl::StatusOr<tuning_db::Job>)>;

  explicit JobDesk(Parts parts) : parts_(std::move(parts)) {}

  // `request` lives until `done` is called. kInvalidArgument names what is wrong with the request,
  // kResourceExhausted what the submitter has too much of, and kAlreadyExists the different job
  // that has its client id already; nothing is written then.
  void Submit(const hone::v1::SubmitJobRequest& request, const Submitter& submitter, Done done);
  // The new job is `submitter`'s. kNotFound where there is no job to clone.
  void Clone(const hone::v1::CloneJobRequest& request, const Submitter& submitter, Done done);

 private:
  // A task that may not be stored yet.
  struct NewTask {
    tuning_db::Task row;
    tuning_db::JobTask of_job;  // but for its number
    std::shared_ptr<const TaskContext> context;
  };
  // A job that is not stored yet. Nothing of a refused job may be stored, so its new tasks are kept
  // here until it is known that the submitter may have it.
  struct Wanted {
    tuning_db::Job job;  // a clone has its tasks, which are stored
    std::vector<NewTask> new_tasks = {};
    TaskContexts contexts = {};
  };

  // Runs `read` on the executor and gives what it returns to `done`, unless too many submissions
  // wait already.
  void Read(std::function<absl::StatusOr<tuning_db::Job>()> read, Done done);
  absl::StatusOr<Wanted> JobOf(const hone::v1::JobSpec& spec);
  absl::StatusOr<Wanted> CloneOf(const hone::v1::CloneJobRequest& request);
  // Returns the job that has the request's client id already. If there is none, makes one with
  // `make`, stores it with what `request` says, and hands it to the loop.
  absl::StatusOr<tuning_db::Job> Once(const tuning_db::Job& request, const Submitter& submitter,
                                      const std::function<absl::StatusOr<Wanted>()>& make);
  absl::StatusOr<tuning_db::Job> Store(Wanted wanted, const Submitter& submitter);
  absl::StatusOr<JobSize> SizeOf(const Wanted& wanted) const;
  // Gives the job its new tasks.
  absl::Status StoreTasks(Wanted& wanted);
  absl::StatusOr<std::string> ChooseTarget(const std::string& wanted);
  // Adds the spec's tasks to `wanted`, for the job's target.
  absl::Status AddTasks(const hone::v1::JobSpec& spec, Wanted& wanted);

  const Parts parts_;
  std::atomic<int> waiting_ = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_JOB_DESK_H_
