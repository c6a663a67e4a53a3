#include "tuner/service/job_desk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "support/digest.h"
#include "support/status.h"
#include "tuner/farm/device_class.h"
#include "tuner/job_changes.h"
#include "tuner/priority_weight.h"
#include "tuner/request_digest.h"
#include "tuner/search_names.h"
#include "tuner/service/job_quota.h"
#include "tuning_db/clone_job.h"
#include "tuning_db/transitions.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

absl::Status CheckClientId(const std::string& client_id) {
  if (!client_id.empty() && client_id.size() <= kMostClientIdBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("a job needs a client id of 1 to {} bytes, found {}; clients choose a UUID",
                  kMostClientIdBytes, client_id.size()));
}

constexpr size_t kDigestDigits = 64;

absl::Status CheckRequestDigest(const std::string& digest) {
  if (digest.empty() || digest.size() == kDigestDigits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("expected the {} digits of a SHA-256 as the digest of a request, found {}",
                  kDigestDigits, digest.size()));
}

absl::Status CheckPriority(int64_t priority) {
  if (priority >= -kMostPriority && priority <= kMostPriority) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("a job has a priority of {} to {}, not {}",
                                                -kMostPriority, kMostPriority, priority));
}

absl::Status CheckTrials(int64_t trials) {
  if (trials >= 1 && trials <= kMostTrials) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("a job has a budget of 1 to {} trials a task, not {}", kMostTrials, trials));
}

absl::Status CheckDevices(const v1::JobSpec& spec) {
  HONE_RETURN_IF_ERROR(CheckDeviceClass(spec.device_class()));
  if (v1::SandboxLevel_IsValid(spec.sandbox())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("expected a level of the sandbox that this daemon knows, found {}; is the client "
                  "newer?",
                  static_cast<int>(spec.sandbox())));
}

// What can be said without reading a workload.
absl::Status CheckSize(const v1::JobSpec& spec) {
  if (spec.tasks().empty() || spec.tasks_size() > kMostTasks) {
    return absl::InvalidArgumentError(
        fmt::format("a job has 1 to {} tasks, not {}", kMostTasks, spec.tasks_size()));
  }
  for (const v1::TaskSpec& task : spec.tasks()) {
    if (task.workload().size() <= kMostWorkloadBytes) continue;
    return absl::InvalidArgumentError(
        fmt::format("a workload has at most {} bytes, that of kernel {} has {}", kMostWorkloadBytes,
                    task.name(), task.workload().size()));
  }
  const size_t bytes = spec.ByteSizeLong();
  if (bytes <= kMostJobBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "a job has at most {} bytes, found {}; submit its models one by one", kMostJobBytes, bytes));
}

// What is said of a job by the request for it, whatever the job is.
template <typename Request>
tuning_db::Job RequestedBy(const Request& request, const Submitter& submitter) {
  tuning_db::Job job;
  job.client_id = request.client_id();
  job.request_digest = DigestOf(request);
  job.submitter = submitter.name;
  return job;
}

}  // namespace

void JobDesk::Submit(const v1::SubmitJobRequest& request, const Submitter& submitter, Done done) {
  const v1::JobSpec& spec = request.spec();
  absl::Status status = CheckClientId(request.client_id());
  if (status.ok()) status = CheckRequestDigest(request.request_digest());
  if (status.ok()) status = CheckTrials(spec.trials());
  if (status.ok()) status = CheckPriority(spec.priority());
  if (status.ok()) status = CheckDevices(spec);
  if (status.ok()) status = CheckSize(spec);
  if (!status.ok()) return done(status);
  Read(
      [this, submitter, &request] {
        return Once(RequestedBy(request, submitter), submitter,
                    [this, &request] { return JobOf(request.spec()); });
      },
      std::move(done));
}

void JobDesk::Clone(const v1::CloneJobRequest& request, const Submitter& submitter, Done done) {
  absl::Status status = CheckClientId(request.client_id());
  if (status.ok() && request.has_priority()) status = CheckPriority(request.priority());
  if (!status.ok()) return done(status);
  Read(
      [this, request, submitter] {
        return Once(RequestedBy(request, submitter), submitter,
                    [this, &request] { return CloneOf(request); });
      },
      std::move(done));
}

void JobDesk::Read(std::function<absl::StatusOr<tuning_db::Job>()> read, Done done) {
  if (waiting_.fetch_add(1) >= kMostSubmissions) {
    --waiting_;
    return done(absl::ResourceExhaustedError(fmt::format(
        "{} jobs wait to be read already; submit the same again in a moment", kMostSubmissions)));
  }
  parts_.executor->Post([this, read = std::move(read), done = std::move(done)] {
    absl::StatusOr<tuning_db::Job> job = read();
    --waiting_;
    done(std::move(job));
  });
}

absl::StatusOr<JobDesk::Wanted> JobDesk::JobOf(const v1::JobSpec& spec) {
  Wanted wanted;
  tuning_db::Job& job = wanted.job;
  job.search = spec.search().empty() ? std::string(kDefaultSearch.name) : spec.search();
  if (parts_.search(job.search) == nullptr) {
    return absl::InvalidArgumentError(fmt::format(
        "there is no search \"{}\"; `hone tune --help` lists those there are", job.search));
  }
  HONE_ASSIGN_OR_RETURN(job.target, ChooseTarget(spec.target()));
  HONE_RETURN_IF_ERROR(AddTasks(spec, wanted));
  job.model = spec.model();
  job.seed = spec.seed();
  job.priority = spec.priority();
  job.deadline_ns = std::max<int64_t>(0, spec.limit_ns());
  job.constant_bytes = static_cast<int64_t>(std::min<uint64_t>(spec.constant_bytes(), INT64_MAX));
  job.ends_early = spec.ends_early();
  const bool is_time = std::isfinite(spec.elsewhere_ns()) && spec.elsewhere_ns() > 0;
  job.elsewhere_ns = is_time ? spec.elsewhere_ns() : 0;
  job.sandbox = spec.sandbox();
  job.device_class = spec.device_class();
  return wanted;
}

absl::StatusOr<JobDesk::Wanted> JobDesk::CloneOf(const v1::CloneJobRequest& request) {
  HONE_ASSIGN_OR_RETURN(const tuning_db::Job of, parts_.store->GetJob(request.id()));
  const tuning_db::JobChanges changes = ChangesOf(request);
  if (changes.trials) HONE_RETURN_IF_ERROR(CheckTrials(*changes.trials));
  return Wanted{.job = tuning_db::CloneOf(of, changes)};
}

absl::StatusOr<tuning_db::Job> JobDesk::Once(const tuning_db::Job& request,
                                             const Submitter& submitter,
                                             const std::function<absl::StatusOr<Wanted>()>& make) {
  HONE_ASSIGN_OR_RETURN(std::optional<tuning_db::Job> known,
                        parts_.store->JobOfClient(request.client_id));
  if (known) {
    HONE_RETURN_IF_ERROR(tuning_db::IsSameRequest(*known, request));
    return *std::move(known);
  }
  HONE_ASSIGN_OR_RETURN(Wanted wanted, make());
  wanted.job.client_id = request.client_id;
  wanted.job.request_digest = request.request_digest;
  wanted.job.submitter = request.submitter;
  return Store(std::move(wanted), submitter);
}

absl::StatusOr<tuning_db::Job> JobDesk::Store(Wanted wanted, const Submitter& submitter) {
  tuning_db::Job& job = wanted.job;
  if (submitter.has_quota) {
    HONE_ASSIGN_OR_RETURN(const JobSize size, SizeOf(wanted));
    HONE_RETURN_IF_ERROR(CheckQuota(*parts_.store, parts_.quota, submitter.name, size));
  }
  HONE_RETURN_IF_ERROR(StoreTasks(wanted));
  job.owner = parts_.ownership.owner;
  job.epoch = parts_.ownership.epoch;
  job.is_private = parts_.is_private;
  HONE_ASSIGN_OR_RETURN(tuning_db::Job stored, parts_.store->SubmitJob(job));
  parts_.submitted(stored.id, std::move(wanted.contexts));
  return stored;
}

absl::StatusOr<JobSize> JobDesk::SizeOf(const Wanted& wanted) const {
  HONE_ASSIGN_OR_RETURN(JobSize size, tuner::SizeOf(*parts_.store, wanted.job));
  size.tasks += static_cast<int64_t>(wanted.new_tasks.size());
  for (const NewTask& task : wanted.new_tasks) {
    size.bytes += static_cast<int64_t>(task.row.workload.size());
  }
  return size;
}

absl::Status JobDesk::StoreTasks(Wanted& wanted) {
  for (NewTask& task : wanted.new_tasks) {
    HONE_ASSIGN_OR_RETURN(task.of_job.task, parts_.store->EnsureTask(task.row));
    wanted.contexts[KeyOf(task.of_job)] = std::move(task.context);
    wanted.job.tasks.push_back(std::move(task.of_job));
  }
  wanted.new_tasks.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::string> JobDesk::ChooseTarget(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const std::vector<std::string> targets = parts_.targets();
  if (targets.size() == 1) return targets.front();
  if (targets.empty()) {
    return absl::InvalidArgumentError(
        "the job names no target and no worker is connected; name a target");
  }
  return absl::InvalidArgumentError(
      fmt::format("the job names no target and the farm has several; name one of: {}",
                  fmt::join(targets, "; ")));
}

absl::Status JobDesk::AddTasks(const v1::JobSpec& spec, Wanted& wanted) {
  const std::string& target = wanted.job.target;
  // All are read before any is stored.
  std::vector<std::shared_ptr<const TaskContext>> contexts;
  for (const v1::TaskSpec& of_task : spec.tasks()) {
    auto context = parts_.lowerer->Open(of_task.workload(), of_task.signature(), target);
    if (!context.ok()) {
      return absl::Status(
          context.status().code(),
          fmt::format("kernel {}: {}", of_task.name(), std::string(context.status().message())));
    }
    contexts.push_back(*std::move(context));
  }
  const auto key = [](const NewTask& task) {
    return std::pair(task.row.workload_digest, task.of_job.signature);
  };
  for (int i = 0; i < spec.tasks_size(); ++i) {
    const v1::TaskSpec& of_spec = spec.tasks(i);
    NewTask task;
    task.context = std::move(contexts[static_cast<size_t>(i)]);
    task.row.workload = of_spec.workload();
    task.row.workload_digest = Sha256Hex(of_spec.workload());
    task.row.anchor_digest = task.context->anchor_digest();
    task.row.target = target;
    task.of_job.signature = of_spec.signature();
    task.of_job.name = of_spec.name();
    const bool is_weight = std::isfinite(of_spec.weight()) && of_spec.weight() > 0;
    task.of_job.weight = is_weight ? of_spec.weight() : 1;
    task.of_job.trials = spec.trials();
    const auto same = std::ranges::find(wanted.new_tasks, key(task), key);
    if (same == wanted.new_tasks.end()) {
      wanted.new_tasks.push_back(std::move(task));
    } else {
      same->of_job.weight += task.of_job.weight;
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::tuner
