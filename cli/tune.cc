// `hone tune`: submits the kernels of models as a job, watches it, then those in layouts that seem
// better by what it measured, and prints what was won.
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/job_progress.h"
#include "cli/json_document.h"
#include "cli/micro_kernel_job.h"
#include "cli/model_final.h"
#include "cli/service_address.h"
#include "cli/tune_events.h"
#include "cli/tuning_client.h"
#include "cli/tuning_place.h"
#include "cli/tuning_request.h"
#include "cli/verb.h"
#include "compiler/schedule/open_task.h"
#include "fmt/format.h"
#include "support/clock.h"
#include "support/status.h"

namespace hone::cli {
namespace {

constexpr int64_t kSecondInterruptNs = 2'000'000'000;
constexpr int64_t kSpaceCountLimit = 1 << 20;
constexpr int kMostRounds = 8;

struct TuneOptions {
  TuningRequest request;
  bool plan = false;
  bool json = false;
  bool wants_events = false;
  std::shared_ptr<TuneEvents> events = nullptr;  // where they are wanted
  std::string label = "";  // before what is said of a target, where there are several
};

// What tuning would do; spends nothing.
absl::StatusOr<nlohmann::json> PlanOf(const TuningWork& work) {
  nlohmann::json list = nlohmann::json::array();
  for (const driver::TuningTask& task : work.tasks.tasks) {
    HONE_ASSIGN_OR_RETURN(
        const schedule::OpenTask open,
        schedule::OpenTask::Open(
            {.def = task.def.get(), .signature = task.signature, .target = work.target}));
    const int64_t space = open.space().Count(kSpaceCountLimit);
    list.push_back({{"name", task.name},
                    {"workload", task.def->workload.text},
                    {"signature", task.signature.ToString()},
                    {"template", std::string(open.template_name())},
                    {"calls", task.weight},
                    {"flops", task.def->flops},
                    {"space", space},
                    {"budget", std::min(work.spec.trials(), space)}});
  }
  return nlohmann::json{{"target", work.target.ToString()}, {"tasks", std::move(list)}};
}

void PrintPlan(const nlohmann::json& plan) {
  fmt::print("{:<44} {:>5} {:>10} {:>8} {:>7}  {}\n", "kernel", "calls", "MFLOP", "space", "budget",
             "signature");
  for (const nlohmann::json& task : plan["tasks"]) {
    fmt::print("{:<44} {:>5} {:>10.2f} {:>8} {:>7}  {}\n", task["name"].get<std::string>(),
               task["calls"].get<double>(), task["flops"].get<double>() * 1e-6,
               task["space"].get<int64_t>(), task["budget"].get<int64_t>(),
               task["signature"].get<std::string>());
  }
}

absl::Status PrintPlans(const std::vector<TuningWork>& works, bool json) {
  nlohmann::json plans = nlohmann::json::array();
  for (const TuningWork& work : works) {
    HONE_ASSIGN_OR_RETURN(nlohmann::json plan, PlanOf(work));
    plans.push_back(std::move(plan));
  }
  if (json) {
    nlohmann::json document =
        works.size() == 1 ? plans[0] : nlohmann::json{{"plans", std::move(plans)}};
    document["schema"] = 1;
    PrintDocument(document);
    return absl::OkStatus();
  }
  for (const nlohmann::json& plan : plans) {
    if (works.size() > 1) fmt::print("target {}\n", plan["target"].get<std::string>());
    PrintPlan(plan);
  }
  return absl::OkStatus();
}

// A job of a server goes on, unless a second Ctrl-C follows soon.
absl::Status InterruptedAtServer(TuningClient& client, int64_t job, const std::string& address) {
  fmt::print(stderr, "detached from job {}; Ctrl-C again to cancel it\n", job);
  const int64_t deadline_ns = Clock::Real().NowNs() + kSecondInterruptNs;
  while (Interrupts() < 2 && Clock::Real().NowNs() < deadline_ns) usleep(10'000);
  if (Interrupts() < 2) {
    return WithExitCode(absl::CancelledError(
                            fmt::format("interrupted; job {0} goes on: hone job watch {0} --server "
                                        "{1} shows it, hone job cancel {0} --server {1} ends it",
                                        job, ServerArgument(address))),
                        kInterrupted);
  }
  HONE_RETURN_IF_ERROR(client.Cancel(job).status());
  return WithExitCode(
      absl::CancelledError(fmt::format("job {} is cancelled; what was settled stays", job)),
      kInterrupted);
}

// Who is told how a job of the call stands; empty: stderr is. Micro-kernels are a phase of their
// own.
OnProgress ProgressOf(const TuneOptions& options, bool of_micro_kernels = false) {
  if (!options.events) return nullptr;
  return
      [events = options.events, of_micro_kernels](const v1::JobInfo& job, const std::string& kind) {
        const char* const phase = kind == "final" ? "final" : "search";
        events->Progress(of_micro_kernels ? "micro-kernels" : phase, job);
      };
}

absl::StatusOr<v1::GetJobResponse> WatchOrInterrupt(TuningClient& client, int64_t job,
                                                    const std::string& address, LocalFarm* farm,
                                                    const std::string& label,
                                                    OnProgress on_progress) {
  WatchOptions watch;
  watch.label = label;
  watch.on_progress = std::move(on_progress);
  watch.stop = [farm] { return Interrupts() > 0 || (farm != nullptr && !farm->CheckAlive().ok()); };
  watch.says_waiting = farm == nullptr;
  absl::StatusOr<v1::GetJobResponse> ended = WatchToEnd(client, job, watch);
  if (Interrupts() > 0 && farm == nullptr) return InterruptedAtServer(client, job, address);
  if (Interrupts() > 0) {
    // What a farm of this call was doing nobody goes on with: its job is cancelled, by the farm's
    // end at the latest.
    client.Cancel(job).status().IgnoreError();
    return CheckInterrupts();
  }
  const absl::Status alive = farm != nullptr ? farm->CheckAlive() : absl::OkStatus();
  if (alive.ok()) return ended;
  client.Cancel(job).status().IgnoreError();
  return alive;
}

// For people all jobs are one: the first, with the kernels and times of the others added.
void Append(const v1::GetJobResponse& ended, v1::GetJobResponse& all) {
  if (!all.has_job()) {
    all = ended;
    return;
  }
  all.mutable_job()->mutable_tasks()->MergeFrom(ended.job().tasks());
  all.mutable_job()->mutable_spec()->mutable_tasks()->MergeFrom(ended.job().spec().tasks());
  all.mutable_job()->set_state(ended.job().state());
  all.mutable_job()->set_message(ended.job().message());
  for (const auto& [phase, seconds] : ended.phase_seconds()) {
    (*all.mutable_phase_seconds())[phase] += seconds;
  }
}

// What is left of a limit, a millisecond at least; 0 is none.
int64_t LeftOf(int64_t limit_ns, int64_t spent_ns) {
  return limit_ns > 0 ? std::max<int64_t>(limit_ns - spent_ns, 1'000'000) : 0;
}

// What defaults are taken from, as far as the job is large enough to be worth it.
absl::StatusOr<MicroKernelPlan> MicroKernelsFor(const TuneOptions& options, const TuningWork& work,
                                                TuningClient& client) {
  const std::string& when = options.request.micro_kernels;
  const CpuTarget* const cpu = work.target.AsCpu();
  if (when == "never" || cpu == nullptr) return MicroKernelPlan();
  HONE_ASSIGN_OR_RETURN(const MicroKernelCosts settled, MicroKernelCostsOf(client, *cpu));
  MicroKernelPlan all = PlanMicroKernels(*cpu, settled, std::numeric_limits<int64_t>::max());
  if (when == "always" || all.tasks.empty()) return all;
  HONE_ASSIGN_OR_RETURN(const int64_t budget, BudgetOf(work, all.trials));
  return PlanMicroKernels(*cpu, settled, budget);
}

// Each once for a target. A job that fails at it is no reason not to tune.
absl::StatusOr<MicroKernelsSpent> MeasureMicroKernels(const TuneOptions& options,
                                                      const TuningWork& work,
                                                      const std::string& address, LocalFarm* farm) {
  MicroKernelsSpent spent;
  TuningClient client(address);
  HONE_ASSIGN_OR_RETURN(const MicroKernelPlan plan, MicroKernelsFor(options, work, client));
  if (plan.tasks.empty()) return spent;
  const int64_t start_ns = Clock::Real().NowNs();
  fmt::print(stderr, "{}{} micro-kernels of the target\n", options.label, plan.trials);
  for (const schedule::MicroKernelTask& task : plan.tasks) {
    const std::optional<int64_t> limit_ns =
        MicroKernelLimitNs(work.spec.limit_ns(), Clock::Real().NowNs() - start_ns);
    if (!limit_ns) break;
    v1::JobSpec spec = MicroKernelJob(task);
    spec.set_limit_ns(*limit_ns);
    SetDevices(options.request, spec);
    HONE_ASSIGN_OR_RETURN(const v1::JobInfo job, client.Submit(spec));
    HONE_ASSIGN_OR_RETURN(const v1::GetJobResponse ended,
                          WatchOrInterrupt(client, job.id(), address, farm, options.label,
                                           ProgressOf(options, true)));
    spent.trials += TotalsOf(ended.job()).trials;
    if (ended.job().state() == v1::JOB_STATE_DONE) continue;
    fmt::print(stderr, "{}note: micro-kernels are not all measured: {}\n", options.label,
               ended.job().message());
    break;
  }
  if (work.spec.limit_ns() > 0 && spent.trials < plan.trials) {
    fmt::print(
        stderr,
        "{}note: {} of {} micro-kernels were measured in their quarter of the time limit; the "
        "next tune with this database goes on with the others\n",
        options.label, spent.trials, plan.trials);
  }
  spent.seconds = static_cast<double>(Clock::Real().NowNs() - start_ns) * 1e-9;
  return spent;
}

// What the calls of kernels take that were jobs' tasks. Layouts that the models no longer call
// count as well: it only has to say what is small.
double DefaultNs(const v1::JobInfo& jobs) {
  double total_ns = 0;
  for (const v1::TaskProgress& task : jobs.tasks()) total_ns += task.weight() * task.default_ns();
  return total_ns;
}

// Jobs until no layout is left that seems better than what is measured (decision 0007).
absl::StatusOr<v1::GetJobResponse> RunJobs(const TuneOptions& options, TuningWork& work,
                                           const std::string& address, LocalFarm* farm) {
  TuningClient client(address);
  v1::GetJobResponse all;
  const int64_t limit_ns = work.spec.limit_ns();
  const int64_t start_ns = Clock::Real().NowNs();
  for (int round = 1; work.spec.tasks_size() > 0 || round == 1; ++round) {
    if (round > 1) {
      fmt::print(stderr, "{}{} kernels in layouts that now seem faster\n", options.label,
                 work.spec.tasks_size());
    }
    HONE_ASSIGN_OR_RETURN(const v1::JobInfo job, client.Submit(work.spec));
    HONE_ASSIGN_OR_RETURN(
        const v1::GetJobResponse ended,
        WatchOrInterrupt(client, job.id(), address, farm, options.label, ProgressOf(options)));
    Append(ended, all);
    const int64_t left_ns = limit_ns - (Clock::Real().NowNs() - start_ns);
    const bool is_late = limit_ns > 0 && left_ns <= 0;
    if (!StateToStatus(all.job()).ok() || is_late || round > kMostRounds) break;
    // The last round tunes only what compiles will take.
    const auto aim =
        round < kMostRounds ? passes::LayoutAim::kExplore : passes::LayoutAim::kSettled;
    HONE_RETURN_IF_ERROR(Advance(options.request, aim, limit_ns > 0 ? left_ns : 0, work));
    work.spec.set_elsewhere_ns(DefaultNs(all.job()));
  }
  return all;
}

// What tuning won as a whole; a model that cannot be timed is no reason to lose what its kernels
// won.
absl::StatusOr<std::vector<tuning_db::ModelFinal>> TimeModels(const TuneOptions& options,
                                                              const TuningWork& work,
                                                              const std::string& address,
                                                              LocalFarm& farm) {
  if (options.events) options.events->Phase("model");
  auto finals = RunModelFinals(options.request, work, address);
  if (finals.ok() || absl::IsCancelled(finals.status())) return finals;
  HONE_RETURN_IF_ERROR(farm.CheckAlive());
  fmt::print(stderr, "note: the tuned kernels were not timed as a whole: {}\n",
             std::string(finals.status().message()));
  return std::vector<tuning_db::ModelFinal>();
}

// What was spent and won for one target.
struct Tuned {
  v1::GetJobResponse ended;
  MicroKernelsSpent micro_kernels;
  std::vector<tuning_db::ModelFinal> models;
  double wall_s = 0;
};

Tuned TunedNothing() {
  Tuned tuned;
  tuned.ended.mutable_job()->set_state(v1::JOB_STATE_DONE);
  return tuned;
}

absl::StatusOr<Tuned> TuneAt(const std::string& address, LocalFarm* farm,
                             const TuneOptions& options, TuningWork& work) {
  if (IsIdle(options.request, work)) return TunedNothing();
  const int64_t start_ns = Clock::Real().NowNs();
  Tuned tuned;
  HONE_ASSIGN_OR_RETURN(tuned.micro_kernels, MeasureMicroKernels(options, work, address, farm));
  const auto spent_ns = static_cast<int64_t>(tuned.micro_kernels.seconds * 1e9);
  work.spec.set_limit_ns(LeftOf(work.spec.limit_ns(), spent_ns));
  HONE_ASSIGN_OR_RETURN(tuned.ended, RunJobs(options, work, address, farm));
  if (farm != nullptr && tuned.ended.job().state() != v1::JOB_STATE_CANCELLED) {
    HONE_ASSIGN_OR_RETURN(tuned.models, TimeModels(options, work, address, *farm));
  }
  tuned.wall_s = static_cast<double>(Clock::Real().NowNs() - start_ns) * 1e-9;
  return tuned;
}

absl::Status Report(const TuneOptions& options, const Tuned& tuned) {
  if (options.events) {
    options.events->Result(
        ResultToJson(tuned.ended, tuned.wall_s, tuned.micro_kernels, tuned.models));
  } else {
    PrintResult(tuned.ended, options.json, tuned.wall_s, tuned.micro_kernels, tuned.models);
  }
  return StateToStatus(tuned.ended.job());
}

absl::Status Submit(const TuneOptions& options, TuningWork& work) {
  if (IsIdle(options.request, work)) return Report(options, TunedNothing());
  CatchInterrupts();
  HONE_ASSIGN_OR_RETURN(const TuningPlace place, FindTuningPlace(options.request, work.target));
  // What the other tune has measured need not be measured again.
  if (place.has_waited) {
    work.tasks = driver::ModelTasks();
    HONE_RETURN_IF_ERROR(
        Advance(options.request, passes::LayoutAim::kExplore, work.spec.limit_ns(), work));
  }
  const absl::StatusOr<Tuned> tuned = TuneAt(place.address, place.farm.get(), options, work);
  const absl::Status done = tuned.ok() ? Report(options, *tuned) : tuned.status();
  // That the daemon is not reached says less than how it ended.
  if (absl::IsUnavailable(done) && place.farm) HONE_RETURN_IF_ERROR(place.farm->CheckAlive());
  return done;
}

// ---- several targets ----

// The one that says most of how targets ended: what the user did, then what failed, then what ended
// early.
absl::Status Worst(const std::vector<absl::Status>& statuses) {
  const auto rank = [](const absl::Status& status) {
    const int code = ExitCodeOf(status);
    return code == kDone ? 0 : code == kEndedEarly ? 1 : code == kInterrupted ? 3 : 2;
  };
  return *std::ranges::max_element(statuses, {}, rank);
}

void PrintResults(const std::vector<TuningWork>& works,
                  const std::vector<absl::StatusOr<Tuned>>& all,
                  const std::vector<absl::Status>& statuses, bool json) {
  nlohmann::json results = nlohmann::json::array();
  for (size_t i = 0; i < works.size(); ++i) {
    const std::string target = works[i].target.ToString();
    if (json) {
      nlohmann::json result =
          all[i].ok() ? ResultToJson(all[i]->ended, all[i]->wall_s, all[i]->micro_kernels, {})
                      : nlohmann::json{{"target", target}};
      result["exit_code"] = ExitCodeOf(statuses[i]);
      result["error"] = std::string(statuses[i].message());
      results.push_back(std::move(result));
      continue;
    }
    fmt::print("{}target {}\n", i == 0 ? "" : "\n", target);
    if (all[i].ok()) PrintResult(all[i]->ended, false, all[i]->wall_s, all[i]->micro_kernels);
    if (!statuses[i].ok()) fmt::print("{}\n", std::string(statuses[i].message()));
  }
  if (json) PrintDocument({{"schema", 1}, {"results", std::move(results)}});
}

// A job of each at the server, all at the same time, until all have ended.
absl::Status TuneTargets(const TuneOptions& options, const std::vector<TuningRequest>& requests,
                         std::vector<TuningWork>& works) {
  CatchInterrupts();
  std::vector<absl::StatusOr<Tuned>> all(works.size(), absl::UnknownError("it did not begin"));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < works.size(); ++i) {
    TuneOptions one = options;
    one.request = requests[i];
    one.label = fmt::format("[target {}] ", i + 1);
    fmt::print(stderr, "{}{}\n", one.label, works[i].target.ToString());
    threads.emplace_back([one = std::move(one), &work = works[i], &tuned = all[i]] {
      tuned = TuneAt(one.request.server, nullptr, one, work);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<absl::Status> statuses;
  for (const absl::StatusOr<Tuned>& tuned : all) {
    statuses.push_back(tuned.ok() ? StateToStatus(tuned->ended.job()) : tuned.status());
  }
  PrintResults(works, all, statuses, options.json);
  return Worst(statuses);
}

// What only makes sense where somebody else's devices measure.
absl::Status CheckNeedsServer(const TuneOptions& options, size_t targets) {
  const TuningRequest& request = options.request;
  const char* const what = targets > 1                     ? "several --target"
                           : !request.sandbox.empty()      ? "--sandbox"
                           : !request.device_class.empty() ? "--device-class"
                                                           : nullptr;
  if (what != nullptr && request.server.empty()) {
    return WithExitCode(absl::InvalidArgumentError(fmt::format(
                            "expected --server with {}: this machine measures for itself only, in "
                            "its own way",
                            what)),
                        kUsage);
  }
  if (targets == 1 || !options.wants_events) return absl::OkStatus();
  return WithExitCode(
      absl::InvalidArgumentError("expected one --target with --events, found several"), kUsage);
}

absl::Status Tune(TuneOptions options) {
  TuningRequest& request = options.request;
  HONE_ASSIGN_OR_RETURN(request.server, NamedServer(request.server, request.database));
  HONE_ASSIGN_OR_RETURN(const std::vector<TuningRequest> requests, request.Split());
  HONE_RETURN_IF_ERROR(CheckNeedsServer(options, requests.size()));
  if (options.wants_events) options.events = std::make_shared<TuneEvents>(Clock::Real());
  std::vector<TuningWork> works;
  for (const TuningRequest& one : requests) {
    HONE_ASSIGN_OR_RETURN(works.emplace_back(), Prepare(one));
    if (!IsIdle(one, works.back())) continue;
    fmt::print(stderr, "no kernel that was compiled for {} lacks a tuned config\n",
               works.back().target.ToString());
  }
  if (options.plan) return PrintPlans(works, options.json);
  NoteFewTrials(request);
  if (requests.size() > 1) return TuneTargets(options, requests, works);
  request = requests[0];
  if (options.events) InterruptWithoutReader();
  return Submit(options, works[0]);
}

}  // namespace

void AddTune(CLI::App& app, Action& action) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App& verb = *app.add_subcommand("tune", "Search the kernels of models for fast configs");
  options->request.AddTo(verb);
  verb.add_option("--micro-kernels", options->request.micro_kernels,
                  "Whether a new target's are measured first; auto: where trials are many")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  CLI::Option* plan = verb.add_flag(
      "--plan", options->plan, "Prints the tasks and what they would cost, and spends nothing");
  CLI::Option* json = verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.add_flag("--events", options->wants_events,
                "Prints one JSON object a line: how it stands, at the end --json's document")
      ->excludes(plan)
      ->excludes(json);
  verb.callback([options, &action] { action = [options] { return Tune(*options); }; });
}

}  // namespace hone::cli
