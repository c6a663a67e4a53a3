// `hone tune`: submits the kernels of models as one job, watches it, prints what it won.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <map>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/local_farm.h"
#include "cli/model_options.h"
#include "cli/progress.h"
#include "cli/tuning_client.h"
#include "cli/verb.h"
#include "compiler/driver/compile.h"
#include "compiler/schedule/template.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "support/status.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

constexpr int64_t kDefaultTrials = 64;
constexpr int64_t kSecondInterruptNs = 2'000'000'000;
constexpr int64_t kSpaceCountLimit = 1 << 20;

struct Options {
  std::vector<std::string> models;
  ModelOptions bindings;  // of all models
  TargetOptions target;
  int64_t trials = kDefaultTrials;
  std::string time;
  std::string database;
  std::string server;
  uint64_t seed = 0;
  std::string search = "xgboost";
  bool plan = false;
  bool json = false;
};

// "90", "90s", "10m", "2h" as nanoseconds.
absl::StatusOr<int64_t> ParseDuration(const std::string& text) {
  if (text.empty()) return 0;
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(rest, text.data() + text.size());
  static const std::map<std::string, double> kUnits = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
  const auto found = kUnits.find(unit);
  if (error != std::errc() || value <= 0 || found == kUnits.end()) {
    return WithExitCode(
        absl::InvalidArgumentError(
            fmt::format("expected a duration such as 90s, 10m or 2h for --time, found '{}'", text)),
        kUsage);
  }
  return static_cast<int64_t>(value * found->second * 1e9);
}

// The kernels of all models; one entry a task and signature, weights added.
absl::StatusOr<std::vector<driver::TuningTask>> CollectTasks(const Options& options,
                                                             const Target& target) {
  std::map<std::pair<std::string, std::string>, driver::TuningTask> tasks;
  std::vector<std::pair<std::string, std::string>> order;
  for (const std::string& path : options.models) {
    HONE_ASSIGN_OR_RETURN(ir::Module module, LoadModel({.path = path,
                                                        .shapes = options.bindings.shapes,
                                                        .constants = options.bindings.constants}));
    HONE_ASSIGN_OR_RETURN(std::vector<driver::TuningTask> found, driver::TasksOf(module, target));
    for (driver::TuningTask& task : found) {
      const auto key = std::make_pair(task.def->workload.digest, task.signature.ToString());
      const auto [it, is_new] = tasks.try_emplace(key, task);
      if (is_new) {
        order.push_back(key);
      } else {
        it->second.weight += task.weight;
      }
    }
  }
  std::vector<driver::TuningTask> result;
  for (const auto& key : order) result.push_back(std::move(tasks.at(key)));
  return result;
}

std::string JoinModelNames(const std::vector<std::string>& paths) {
  std::string names;
  for (const std::string& path : paths) {
    if (!names.empty()) names += ", ";
    names += path.substr(path.rfind('/') + 1);
  }
  return names;
}

// What tuning would do; spends nothing.
absl::Status PrintPlan(const Options& options, const Target& target,
                       const std::vector<driver::TuningTask>& tasks) {
  nlohmann::json list = nlohmann::json::array();
  for (const driver::TuningTask& task : tasks) {
    const schedule::Task scheduled{
        .def = task.def.get(), .signature = task.signature, .target = target};
    const schedule::Template& tmpl = schedule::TemplateFor(*task.def);
    const int64_t space = tmpl.MakeSpace(scheduled).Count(kSpaceCountLimit);
    list.push_back({{"name", task.name},
                    {"workload", task.def->workload.text},
                    {"signature", task.signature.ToString()},
                    {"template", std::string(tmpl.name())},
                    {"calls", task.weight},
                    {"flops", task.def->flops},
                    {"space", space},
                    {"budget", std::min(options.trials, space)}});
  }
  if (options.json) {
    const nlohmann::json document = {{"schema", 1}, {"target", target.ToString()}, {"tasks", list}};
    fmt::print("{}\n", document.dump(2));
    return absl::OkStatus();
  }
  fmt::print("{:<44} {:>5} {:>10} {:>8} {:>7}  {}\n", "kernel", "calls", "MFLOP", "space", "budget",
             "signature");
  for (const nlohmann::json& task : list) {
    fmt::print("{:<44} {:>5} {:>10.2f} {:>8} {:>7}  {}\n", task["name"].get<std::string>(),
               task["calls"].get<double>(), task["flops"].get<double>() * 1e-6,
               task["space"].get<int64_t>(), task["budget"].get<int64_t>(),
               task["signature"].get<std::string>());
  }
  return absl::OkStatus();
}

// Set by Ctrl-C; the count of them.
std::atomic<int> interrupts = 0;
void OnInterrupt(int) { ++interrupts; }

struct Totals {
  int64_t trials = 0;
  int64_t failures = 0;
  int64_t done = 0;
  int64_t budget = 0;
};

Totals Sum(const v1::JobInfo& job) {
  Totals totals;
  for (const v1::TaskProgress& task : job.tasks()) {
    totals.trials += task.trials();
    totals.failures += task.failures();
    totals.done += task.total_trials();
    totals.budget += task.budget();
  }
  return totals;
}

// The models' time with the best configs so far, over the kernels that have been measured.
std::string BestSoFar(const v1::JobInfo& job) {
  double default_ns = 0;
  double best_ns = 0;
  for (int i = 0; i < job.tasks_size(); ++i) {
    const v1::TaskProgress& task = job.tasks(i);
    if (task.default_ns() <= 0 || task.best_ns() <= 0) continue;
    const double weight = i < job.spec().tasks_size() ? job.spec().tasks(i).weight() : 1;
    default_ns += weight * task.default_ns();
    best_ns += weight * task.best_ns();
  }
  if (best_ns <= 0) return "-";
  return fmt::format("{} ({:.2f}x of default)", FormatNs(best_ns), default_ns / best_ns);
}

std::string Describe(const v1::JobInfo& job, const std::string& kind, double elapsed_s) {
  const Totals totals = Sum(job);
  const int64_t left = std::max<int64_t>(totals.budget - totals.done, 0);
  const double rate = elapsed_s > 0 ? static_cast<double>(totals.trials) / elapsed_s : 0;
  const std::string eta = rate > 0 ? FormatSeconds(static_cast<double>(left) / rate) : "-";
  return fmt::format("{} {}/{} trials, best so far {}, {} failed, {:.1f}/s, ETA {}",
                     kind == "final" ? "finals" : "search", totals.done, totals.budget,
                     BestSoFar(job), totals.failures, rate, eta);
}

absl::Status PrintResult(const v1::GetJobResponse& ended, const Target& target, bool json,
                         double wall_s) {
  const v1::JobInfo& job = ended.job();
  if (json) {
    nlohmann::json tasks = nlohmann::json::array();
    for (int i = 0; i < job.tasks_size(); ++i) {
      const v1::TaskProgress& task = job.tasks(i);
      tasks.push_back({{"name", task.name()},
                       {"workload", job.spec().tasks(i).workload()},
                       {"signature", task.signature()},
                       {"tier", task.tier()},
                       {"trials", task.trials()},
                       {"failures", task.failures()},
                       {"default_us", task.default_ns() * 1e-3},
                       {"best_us", task.best_ns() * 1e-3}});
    }
    const nlohmann::json document = {
        {"schema", 1},
        {"job", job.id()},
        {"target", target.ToString()},
        {"tasks", tasks},
        {"phase_seconds",
         std::map<std::string, double>(ended.phase_seconds().begin(), ended.phase_seconds().end())},
        {"wall_s", wall_s}};
    fmt::print("{}\n", document.dump(2));
    return absl::OkStatus();
  }
  fmt::print("{:<44} {:>7} {:>7} {:>12} {:>12} {:>7}  {}\n", "kernel", "trials", "failed",
             "default", "best", "gain", "tier");
  for (const v1::TaskProgress& task : job.tasks()) {
    const double gain = task.best_ns() > 0 ? task.default_ns() / task.best_ns() : 0;
    fmt::print("{:<44} {:>7} {:>7} {:>12} {:>12} {:>6.2f}x  {}\n", task.name(), task.trials(),
               task.failures(), FormatNs(task.default_ns()), FormatNs(task.best_ns()), gain,
               task.tier());
  }
  const Totals totals = Sum(job);
  fmt::print("{} trials in {}, {} failed\n", totals.trials, FormatSeconds(wall_s), totals.failures);
  return absl::OkStatus();
}

v1::JobSpec SpecOf(const Options& options, const Target& target,
                   const std::vector<driver::TuningTask>& tasks, int64_t limit_ns) {
  v1::JobSpec spec;
  spec.set_model(JoinModelNames(options.models));
  spec.set_target(target.ToString());
  spec.set_trials(options.trials);
  spec.set_limit_ns(limit_ns);
  spec.set_seed(options.seed);
  spec.set_search(options.search);
  for (const driver::TuningTask& task : tasks) {
    v1::TaskSpec& added = *spec.add_tasks();
    added.set_workload(task.def->workload.text);
    added.set_signature(task.signature.ToString());
    added.set_name(task.name);
    added.set_weight(task.weight);
  }
  return spec;
}

absl::Status StateToStatus(const v1::JobInfo& job, bool limited) {
  switch (job.state()) {
    case v1::JOB_STATE_DONE: {
      const Totals totals = Sum(job);
      if (limited && totals.done < totals.budget) {
        return WithExitCode(
            absl::DeadlineExceededError(fmt::format(
                "the time limit ended the job after {} of {} trials; what was settled stays",
                totals.done, totals.budget)),
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

// A local job ends with its daemon. One of a server goes on, unless a second Ctrl-C follows soon.
absl::Status Interrupted(TuningClient& client, int64_t job, bool is_local) {
  if (is_local) {
    return WithExitCode(absl::CancelledError("interrupted; what was settled stays"), kInterrupted);
  }
  fmt::print(stderr, "detached from job {}; Ctrl-C again to cancel it\n", job);
  const int64_t deadline_ns = Clock::Real().NowNs() + kSecondInterruptNs;
  while (interrupts < 2 && Clock::Real().NowNs() < deadline_ns) usleep(10'000);
  if (interrupts < 2) {
    return WithExitCode(absl::CancelledError(fmt::format("interrupted; job {} goes on", job)),
                        kInterrupted);
  }
  HONE_RETURN_IF_ERROR(client.Cancel(job).status());
  return WithExitCode(
      absl::CancelledError(fmt::format("job {} is cancelled; what was settled stays", job)),
      kInterrupted);
}

absl::StatusOr<v1::GetJobResponse> WatchToEnd(TuningClient& client, int64_t job, LocalFarm* farm) {
  Progress progress(Clock::Real());
  v1::JobInfo last;
  const auto on_event = [&](const v1::WatchJobResponse& event) {
    last = event.job();
    progress.Update(Describe(event.job(), event.kind(), progress.ElapsedSeconds()));
  };
  const auto stop = [&] { return interrupts > 0 || (farm != nullptr && !farm->CheckAlive().ok()); };
  HONE_RETURN_IF_ERROR(client.Watch(job, on_event, stop));
  if (interrupts > 0) return Interrupted(client, job, farm != nullptr);
  if (farm != nullptr) HONE_RETURN_IF_ERROR(farm->CheckAlive());
  return client.Get(job);
}

absl::Status Tune(const Options& options) {
  if (options.trials < 1) {
    return WithExitCode(absl::InvalidArgumentError(fmt::format(
                            "expected --trials of at least 1, found {}", options.trials)),
                        kUsage);
  }
  HONE_ASSIGN_OR_RETURN(const Target target, options.target.Resolve());
  HONE_ASSIGN_OR_RETURN(const int64_t limit_ns, ParseDuration(options.time));
  HONE_ASSIGN_OR_RETURN(const std::vector<driver::TuningTask> tasks, CollectTasks(options, target));
  if (options.plan) return PrintPlan(options, target, tasks);

  const int64_t start_ns = Clock::Real().NowNs();
  std::unique_ptr<LocalFarm> farm;
  std::string address = options.server;
  if (address.empty()) {
    const std::string database = DatabasePath(options.database);
    const absl::StatusOr<std::string> writer = tuning_db::WriterOf(database);
    if (writer.ok() && !writer->empty()) {
      address = *writer;  // a daemon holds the database: the job goes through it
    } else {
      HONE_ASSIGN_OR_RETURN(farm,
                            LocalFarm::Start({.database = database, .threads = target.threads}));
      address = farm->address();
    }
  }
  signal(SIGINT, OnInterrupt);
  TuningClient client(address);
  HONE_ASSIGN_OR_RETURN(const v1::JobInfo submitted,
                        client.Submit(SpecOf(options, target, tasks, limit_ns)));
  HONE_ASSIGN_OR_RETURN(const v1::GetJobResponse ended,
                        WatchToEnd(client, submitted.id(), farm.get()));
  const double wall_s = static_cast<double>(Clock::Real().NowNs() - start_ns) * 1e-9;
  HONE_RETURN_IF_ERROR(PrintResult(ended, target, options.json, wall_s));
  return StateToStatus(ended.job(), limit_ns > 0);
}

}  // namespace

void AddTune(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App& verb = *app.add_subcommand("tune", "Search the kernels of models for fast configs");
  verb.add_option("MODEL", options->models, "Models to tune (.onnx, .relay)")->required();
  options->bindings.AddBindings(verb);
  options->target.AddTo(verb);
  verb.add_option("--trials", options->trials, "Trials a task, a total over all jobs ever")
      ->capture_default_str();
  verb.add_option("--time", options->time, "Ends the job after this time: 90s, 10m, 2h");
  CLI::Option* db = verb.add_option("--db", options->database, "The tuning database");
  verb.add_option("--server", options->server, "A running honed: unix:PATH")->excludes(db);
  verb.add_option("--seed", options->seed, "Seed of the search")->capture_default_str();
  verb.add_option("--search", options->search, "xgboost, random or grid")->capture_default_str();
  verb.add_flag("--plan", options->plan,
                "Prints the tasks and what they would cost, and spends nothing");
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &action] { action = [options] { return Tune(*options); }; });
}

}  // namespace hone::cli
