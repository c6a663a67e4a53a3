#include "cli/job_progress.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/printable.h"
#include "cli/progress.h"
#include "compiler/frontend/name_list.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::cli {
namespace {

std::atomic<int> interrupts = 0;
std::atomic<bool> needs_reader = false;
void OnInterrupt(int) { ++interrupts; }

// Whether the reading end of a pipe or socket is closed.
bool IsWithoutReader(int fd) {
  pollfd descriptor{.fd = fd, .events = 0, .revents = 0};
  return poll(&descriptor, 1, 0) == 1 && (descriptor.revents & (POLLERR | POLLHUP)) != 0;
}

std::string BestSoFar(const v1::JobInfo& job) {
  const JobTimes times = TimesOf(job);
  if (times.best_ns <= 0) return "-";
  return fmt::format("{} ({:.2f}x of default)", FormatNs(times.best_ns),
                     times.default_ns / times.best_ns);
}

// Puts the tasks of an event into the job.
void MergeTasks(const v1::JobInfo& event, v1::JobInfo& job) {
  std::map<std::pair<std::string, std::string>, const v1::TaskProgress*> changed;
  for (const v1::TaskProgress& task : event.tasks()) {
    changed[{task.workload_digest(), task.signature()}] = &task;
  }
  if (changed.empty()) return;
  for (v1::TaskProgress& task : *job.mutable_tasks()) {
    const auto it = changed.find({task.workload_digest(), task.signature()});
    if (it != changed.end()) task = *it->second;
  }
}

std::string Describe(const v1::JobInfo& job, const std::string& kind, int64_t trials_before,
                     double elapsed_s) {
  const JobTotals totals = TotalsOf(job);
  const int64_t left = std::max<int64_t>(totals.budget - totals.done, 0);
  const auto spent = static_cast<double>(totals.trials - trials_before);
  const double rate = elapsed_s > 0 ? spent / elapsed_s : 0;
  const std::string eta = rate > 0 ? FormatSeconds(static_cast<double>(left) / rate) : "-";
  // Searches that end early make it less.
  const char* bound = job.spec().ends_early() && left > 0 ? "<= " : "";
  const std::string waits_for = WaitsFor(job);
  if (!waits_for.empty()) {
    return fmt::format("{}/{} trials, waiting: {}", totals.done, totals.budget, waits_for);
  }
  return fmt::format("{} {}/{} trials, best so far {}, {} failed, {:.1f}/s, ETA {}{}",
                     kind == "final" ? "finals" : "search", totals.done, totals.budget,
                     BestSoFar(job), totals.failures, rate, bound, eta);
}

bool IsUntried(const v1::TaskProgress& task) {
  return task.budget() > 0 && task.total_trials() == 0;
}

// Which kernels had no trial at all, for the end of a sentence; empty: each had one.
std::string NotTried(const v1::JobInfo& job) {
  std::vector<std::string> names;
  for (const v1::TaskProgress& task : job.tasks()) {
    if (IsUntried(task)) names.push_back(Printable(task.name()));
  }
  if (names.empty()) return "";
  return fmt::format("; {} of {} kernels were not tried at all: {}", names.size(), job.tasks_size(),
                     frontend::ShortList(names));
}

// How many searches ended before their budget; empty: none did.
std::string EndedEarly(const v1::JobInfo& job) {
  const auto& tasks = job.tasks();
  const auto count = std::count_if(tasks.begin(), tasks.end(), [](const v1::TaskProgress& task) {
    return task.ended() == "nothing to win";
  });
  if (count == 0) return "";
  return fmt::format("; {} of {} searches ended before their budget, with nothing more to win",
                     count, tasks.size());
}

}  // namespace

JobTimes TimesOf(const v1::JobInfo& job) {
  JobTimes times;
  for (const v1::TaskProgress& task : job.tasks()) {
    if (task.default_ns() <= 0 || task.best_ns() <= 0) continue;
    times.default_ns += task.weight() * task.default_ns();
    times.best_ns += task.weight() * task.best_ns();
  }
  return times;
}

TaskKeys UntriedOf(const v1::JobInfo& job) {
  TaskKeys untried;
  for (const v1::TaskProgress& task : job.tasks()) {
    if (IsUntried(task)) untried.emplace(task.workload_digest(), task.signature());
  }
  return untried;
}

std::string WaitsFor(const v1::JobInfo& job) {
  for (const v1::TaskProgress& task : job.tasks()) {
    if (!task.waiting().empty()) return task.waiting();
  }
  return "";
}

JobTotals TotalsOf(const v1::JobInfo& job) {
  JobTotals totals;
  for (const v1::TaskProgress& task : job.tasks()) {
    totals.trials += task.trials();
    totals.failures += task.failures();
    // A longer search before this job may have spent more than the job asks for.
    totals.done += std::min(task.total_trials(), task.budget());
    totals.budget += task.budget();
  }
  return totals;
}

void CatchInterrupts() {
  for (const int number : {SIGINT, SIGTERM}) signal(number, OnInterrupt);
  // Under nohup the signal is ignored, and stays so.
  if (signal(SIGHUP, OnInterrupt) == SIG_IGN) signal(SIGHUP, SIG_IGN);
}

int Interrupts() {
  const bool is_orphan = needs_reader && IsWithoutReader(STDOUT_FILENO);
  return interrupts + (is_orphan ? 1 : 0);
}

void InterruptWithoutReader() { needs_reader = true; }

absl::Status CheckInterrupts() {
  if (Interrupts() == 0) return absl::OkStatus();
  return WithExitCode(absl::CancelledError("interrupted; what was settled stays"), kInterrupted);
}

absl::StatusOr<v1::GetJobResponse> WatchToEnd(TuningClient& client, int64_t job,
                                              const WatchOptions& options) {
  HONE_ASSIGN_OR_RETURN(const v1::GetJobResponse first, client.Get(job));
  const int64_t trials_before = TotalsOf(first.job()).trials;
  Progress progress(Clock::Real(), options.label);
  std::string waiting;
  bool has_said_waits = false;
  v1::JobInfo now = first.job();
  const auto on_event = [&](const v1::WatchJobResponse& event) {
    MergeTasks(event.job(), now);
    const bool is_paused = event.job().state() == v1::JOB_STATE_PAUSED;
    const std::string before = std::exchange(
        waiting, is_paused ? fmt::format("it is paused; hone job resume {} goes on with it", job)
                           : WaitsFor(now));
    if (options.says_waiting && !waiting.empty() && waiting != before) {
      progress.Print(fmt::format("job {} waits: {}", job, waiting));
      has_said_waits = true;
    } else if (has_said_waits && waiting.empty() && event.job().state() == v1::JOB_STATE_RUNNING) {
      progress.Print(fmt::format("job {} goes on", job));
      has_said_waits = false;
    }
    if (options.on_progress) return options.on_progress(now, event.kind());
    progress.Update(Describe(now, event.kind(), trials_before, progress.ElapsedSeconds()));
  };
  TuningClient::Watcher watcher;
  watcher.on_event = on_event;
  watcher.stop = [&] { return options.stop != nullptr && options.stop(); };
  watcher.on_away = [&](const absl::Status&) {
    progress.Print(fmt::format(
        "the daemon is away; job {} goes on once it is back, and this asks until then", job));
  };
  watcher.on_back = [&] { progress.Print("the daemon is back"); };
  HONE_RETURN_IF_ERROR(client.Watch(job, options.after_seq, watcher));
  return client.Get(job);
}

nlohmann::json TasksToJson(const v1::JobInfo& job) {
  nlohmann::json tasks = nlohmann::json::array();
  for (int i = 0; i < job.tasks_size(); ++i) {
    const v1::TaskProgress& task = job.tasks(i);
    tasks.push_back({{"name", task.name()},
                     {"workload", job.spec().tasks(i).workload()},
                     {"signature", task.signature()},
                     {"tier", task.tier()},
                     {"ended", task.ended()},
                     {"waiting", task.waiting()},
                     {"trials", task.trials()},
                     {"failures", task.failures()},
                     {"default_us", task.default_ns() * 1e-3},
                     {"best_us", task.best_ns() * 1e-3}});
  }
  return tasks;
}

void PrintTasks(const v1::JobInfo& job) {
  fmt::print("{:<44} {:>7} {:>7} {:>12} {:>12} {:>7}  {}\n", "kernel", "trials", "failed",
             "default", "best", "gain", "tier");
  for (const v1::TaskProgress& task : job.tasks()) {
    const double gain = task.best_ns() > 0 ? task.default_ns() / task.best_ns() : 0;
    fmt::print("{:<44} {:>7} {:>7} {:>12} {:>12} {:>6.2f}x  {}\n", Printable(task.name()),
               task.trials(), task.failures(), FormatNs(task.default_ns()),
               FormatNs(task.best_ns()), gain, task.tier());
  }
}

nlohmann::json ResultToJson(const v1::GetJobResponse& ended, double wall_s,
                            const MicroKernelsSpent& micro_kernels,
                            const std::vector<tuning_db::ModelFinal>& models) {
  const v1::JobInfo& job = ended.job();
  const std::map<std::string, double> phases(ended.phase_seconds().begin(),
                                             ended.phase_seconds().end());
  return {{"schema", 1},
          {"job", job.id()},
          {"target", job.spec().target()},
          {"tasks", TasksToJson(job)},
          {"phase_seconds", phases},
          {"micro_kernels", {{"trials", micro_kernels.trials}, {"seconds", micro_kernels.seconds}}},
          {"models", ModelFinalsToJson(models)},
          {"wall_s", wall_s}};
}

void PrintResult(const v1::GetJobResponse& ended, bool json, double wall_s,
                 const MicroKernelsSpent& micro_kernels,
                 const std::vector<tuning_db::ModelFinal>& models) {
  const v1::JobInfo& job = ended.job();
  if (json) return PrintDocument(ResultToJson(ended, wall_s, micro_kernels, models));
  PrintTasks(job);
  const JobTotals totals = TotalsOf(job);
  fmt::print("{} trials in {}, {} failed{}\n", totals.trials, FormatSeconds(wall_s),
             totals.failures, EndedEarly(job));
  PrintModelFinals(models, UntriedOf(job));
}

absl::Status StateToStatus(const v1::JobInfo& job) {
  switch (job.state()) {
    case v1::JOB_STATE_DONE: {
      const JobTotals totals = TotalsOf(job);
      if (job.spec().limit_ns() > 0 && totals.done < totals.budget) {
        return WithExitCode(
            absl::DeadlineExceededError(fmt::format(
                "the time limit ended the job after {} of {} trials{}; what was settled stays",
                totals.done, totals.budget, NotTried(job))),
            kEndedEarly);
      }
      return absl::OkStatus();
    }
    case v1::JOB_STATE_CANCELLED:
      return WithExitCode(absl::CancelledError("the job was cancelled; what was settled stays"),
                          kEndedEarly);
    default:
      return absl::InternalError(fmt::format("the job failed: {}", job.message()));
  }
}

}  // namespace hone::cli
