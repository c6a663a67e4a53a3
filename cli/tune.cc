// `hone tune`: submits the kernels of models as one job, watches it, prints what it won.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/job_progress.h"
#include "cli/local_farm.h"
#include "cli/model_options.h"
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

// What is to be tuned of all models; one entry a task and signature, weights added. A kernel finds
// its constants cold where any of the models pushes them out.
absl::StatusOr<driver::ModelTasks> CollectTasks(const Options& options, const Target& target) {
  driver::ModelTasks all;
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (const std::string& path : options.models) {
    HONE_ASSIGN_OR_RETURN(ir::Module module, LoadModel({.path = path,
                                                        .shapes = options.bindings.shapes,
                                                        .constants = options.bindings.constants}));
    HONE_ASSIGN_OR_RETURN(driver::ModelTasks found, driver::TasksOf(module, target));
    all.constant_bytes = std::max(all.constant_bytes, found.constant_bytes);
    for (driver::TuningTask& task : found.tasks) {
      const auto key = std::make_pair(task.def->workload.digest, task.signature.ToString());
      const auto [it, is_new] = known.try_emplace(key, all.tasks.size());
      if (is_new) {
        all.tasks.push_back(std::move(task));
      } else {
        all.tasks[it->second].weight += task.weight;
      }
    }
  }
  return all;
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

v1::JobSpec SpecOf(const Options& options, const Target& target, const driver::ModelTasks& work,
                   int64_t limit_ns) {
  v1::JobSpec spec;
  spec.set_model(JoinModelNames(options.models));
  spec.set_target(target.ToString());
  spec.set_trials(options.trials);
  spec.set_limit_ns(limit_ns);
  spec.set_seed(options.seed);
  spec.set_search(options.search);
  spec.set_constant_bytes(work.constant_bytes);
  for (const driver::TuningTask& task : work.tasks) {
    v1::TaskSpec& added = *spec.add_tasks();
    added.set_workload(task.def->workload.text);
    added.set_signature(task.signature.ToString());
    added.set_name(task.name);
    added.set_weight(task.weight);
  }
  return spec;
}

// What a farm of this call was doing nobody goes on with: its job is cancelled.
absl::Status InterruptedLocally(TuningClient& client, int64_t job) {
  const absl::Status cancelled = client.Cancel(job).status();
  const bool has_ended = absl::IsFailedPrecondition(cancelled);
  if (!cancelled.ok() && !has_ended) return cancelled;
  return WithExitCode(absl::CancelledError("interrupted; what was settled stays"), kInterrupted);
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
                                        job, address)),
                        kInterrupted);
  }
  HONE_RETURN_IF_ERROR(client.Cancel(job).status());
  return WithExitCode(
      absl::CancelledError(fmt::format("job {} is cancelled; what was settled stays", job)),
      kInterrupted);
}

absl::StatusOr<v1::GetJobResponse> WatchOrInterrupt(TuningClient& client, int64_t job,
                                                    const std::string& address, LocalFarm* farm) {
  WatchOptions watch;
  watch.stop = [farm] { return Interrupts() > 0 || (farm != nullptr && !farm->CheckAlive().ok()); };
  watch.says_waiting = farm == nullptr;
  absl::StatusOr<v1::GetJobResponse> ended = WatchToEnd(client, job, watch);
  if (Interrupts() > 0) {
    return farm != nullptr ? InterruptedLocally(client, job)
                           : InterruptedAtServer(client, job, address);
  }
  if (farm != nullptr) HONE_RETURN_IF_ERROR(farm->CheckAlive());
  return ended;
}

absl::Status Submit(const Options& options, const v1::JobSpec& spec, int threads) {
  const int64_t start_ns = Clock::Real().NowNs();
  std::unique_ptr<LocalFarm> farm;
  std::string address = options.server;
  if (address.empty()) {
    const std::string database = DatabasePath(options.database);
    const absl::StatusOr<std::string> writer = tuning_db::WriterOf(database);
    if (writer.ok() && !writer->empty()) {
      address = *writer;  // a daemon holds the database: the job goes through it
    } else {
      HONE_ASSIGN_OR_RETURN(farm, LocalFarm::Start({.database = database, .threads = threads}));
      address = farm->address();
    }
  }
  CatchInterrupts();
  TuningClient client(address);
  HONE_ASSIGN_OR_RETURN(const v1::JobInfo job, client.Submit(spec));
  HONE_ASSIGN_OR_RETURN(const v1::GetJobResponse ended,
                        WatchOrInterrupt(client, job.id(), address, farm.get()));
  const double wall_s = static_cast<double>(Clock::Real().NowNs() - start_ns) * 1e-9;
  PrintResult(ended, options.json, wall_s);
  return StateToStatus(ended.job());
}

absl::Status Tune(const Options& options) {
  if (options.trials < 1) {
    return WithExitCode(absl::InvalidArgumentError(fmt::format(
                            "expected --trials of at least 1, found {}", options.trials)),
                        kUsage);
  }
  HONE_ASSIGN_OR_RETURN(const Target target, options.target.Resolve());
  HONE_ASSIGN_OR_RETURN(const int64_t limit_ns, ParseDuration(options.time));
  HONE_ASSIGN_OR_RETURN(const driver::ModelTasks work, CollectTasks(options, target));
  if (options.plan) return PrintPlan(options, target, work.tasks);
  return Submit(options, SpecOf(options, target, work, limit_ns), target.threads);
}

}  // namespace

void AddTune(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App& verb = *app.add_subcommand("tune", "Search the kernels of models for fast configs");
  verb.add_option("MODEL", options->models, "Models to tune (.onnx, .pb, .relay)")->required();
  options->bindings.AddBindings(verb);
  options->target.AddTo(verb);
  verb.add_option("--trials", options->trials, "Trials a task, a total over all jobs ever")
      ->capture_default_str();
  verb.add_option("--time", options->time, "Ends the job after this time: 90s, 10m, 2h");
  CLI::Option* db = verb.add_option("--db", options->database, "The tuning database");
  verb.add_option("--server", options->server, "A running honed: unix:PATH")->excludes(db);
  verb.add_option("--seed", options->seed, "Seed of the search")->capture_default_str();
  verb.add_option("--search", options->search, "xgboost, random or grid")
      ->check(CLI::IsMember({"xgboost", "random", "grid"}))
      ->capture_default_str();
  verb.add_flag("--plan", options->plan,
                "Prints the tasks and what they would cost, and spends nothing");
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &action] { action = [options] { return Tune(*options); }; });
}

}  // namespace hone::cli
