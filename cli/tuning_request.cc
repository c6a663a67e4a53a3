#include "cli/tuning_request.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/farm_client.h"
#include "cli/misses.h"
#include "cli/printable.h"
#include "cli/server_configs.h"
#include "cli/whole_number.h"
#include "compiler/schedule/open_task.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "support/status.h"
#include "tuner/farm/device_class.h"
#include "tuner/job_limits.h"
#include "tuner/priority_weight.h"
#include "tuner/search_names.h"
#include "tuning_db/resolve.h"

namespace hone::cli {
namespace {

const std::map<std::string, v1::SandboxLevel>& Sandboxes() {
  static const std::map<std::string, v1::SandboxLevel> kSandboxes = {
      {"limits", v1::SANDBOX_LEVEL_LIMITS},
      {"contained", v1::SANDBOX_LEVEL_CONTAINED},
      {"strict", v1::SANDBOX_LEVEL_STRICT}};
  return kSandboxes;
}

absl::StatusOr<std::vector<std::vector<ir::Module>>> LoadModels(const TuningRequest& request) {
  std::vector<std::vector<ir::Module>> models;
  for (const std::string& path : request.models) {
    ModelOptions model = request.bindings;
    model.path = path;
    HONE_ASSIGN_OR_RETURN(models.emplace_back(), LoadSpecialisations(model));
  }
  return models;
}

// The workload's digest and the signature.
using TaskKey = std::pair<std::string, std::string>;

TaskKey KeyOf(const driver::TuningTask& task) {
  return {task.def->workload.digest, task.signature.ToString()};
}

// What is measured so far, where the jobs' results go.
driver::ConfigChain MeasuredSoFar(const TuningRequest& request) {
  driver::ConfigChain configs;
  if (!request.server.empty()) {
    configs.Add(MakeServerConfigs(request.server));
    return configs;
  }
  // A database that cannot be read is nothing measured: the job's daemon migrates it, or says what
  // is wrong.
  absl::StatusOr<driver::ConfigChain> of_file =
      ConfigsFrom(DatabasePath(request.database), /*must_exist=*/false);
  return of_file.ok() ? *std::move(of_file) : std::move(configs);
}

// What is to be tuned of all models and was not submitted; one entry a task and signature, weights
// added. A kernel finds its constants cold where any of the models pushes them out. At first also
// what an untuned compile takes and was not measured, which no model calls yet.
absl::StatusOr<driver::ModelTasks> CollectTasks(const TuningWork& work, passes::LayoutAim aim,
                                                driver::ConfigChain& configs) {
  driver::ModelTasks all;
  std::map<TaskKey, size_t> known;
  const auto add = [&](driver::TuningTask task, double weight_of_known) {
    const TaskKey key = KeyOf(task);
    if (work.submitted.contains(key)) return;
    const auto [it, is_new] = known.try_emplace(key, all.tasks.size());
    if (is_new) {
      all.tasks.push_back(std::move(task));
    } else {
      all.tasks[it->second].weight += weight_of_known;
    }
  };
  for (const std::vector<ir::Module>& model : work.models) {
    HONE_ASSIGN_OR_RETURN(driver::ModelTasks found,
                          driver::TasksOf(model, work.target, &configs, aim));
    all.constant_bytes = std::max(all.constant_bytes, found.constant_bytes);
    for (driver::TuningTask& task : found.tasks) {
      const double weight = task.weight;
      add(std::move(task), weight);
    }
  }
  if (!work.submitted.empty()) return all;
  for (const std::vector<ir::Module>& model : work.models) {
    HONE_ASSIGN_OR_RETURN(std::vector<driver::TuningTask> defaults,
                          driver::UnmeasuredDefaults(model, work.target, configs));
    for (driver::TuningTask& task : defaults) add(std::move(task), 0);
  }
  return all;
}

std::string JoinModelNames(const std::vector<std::string>& paths) {
  std::string names;
  for (const std::string& path : paths) {
    if (!names.empty()) names += ", ";
    names += ModelName(path);
  }
  return names;
}

// Adds what compiles missed, as far as no model brought it and a job has room for it.
absl::Status AddMisses(const TuningRequest& request, const Target& target,
                       driver::ModelTasks& work) {
  HONE_ASSIGN_OR_RETURN(const std::vector<tuning_db::Miss> misses,
                        ReadMisses(request.server, request.database, target.ToString()));
  MissedTasks missed = TasksOfMisses(misses);
  if (missed.unread > 0) {
    fmt::print(stderr, "note: {} kernels were missed by another release, and are left out\n",
               missed.unread);
  }
  std::set<TaskKey> known;
  for (const driver::TuningTask& task : work.tasks) known.insert(KeyOf(task));
  for (driver::TuningTask& task : missed.tasks) {
    if (work.tasks.size() >= tuner::kMostTasks) break;
    if (known.contains(KeyOf(task))) continue;
    work.tasks.push_back(std::move(task));
  }
  return absl::OkStatus();
}

// For people.
std::string NameOf(const TuningRequest& request) {
  std::string name = JoinModelNames(request.models);
  if (!request.misses) return name;
  return name.empty() ? "misses" : name + ", misses";
}

v1::JobSpec SpecOf(const TuningRequest& request, const Target& target,
                   const driver::ModelTasks& work, int64_t limit_ns) {
  v1::JobSpec spec;
  spec.set_model(ToUtf8(NameOf(request)));
  spec.set_target(target.ToString());
  spec.set_trials(request.trials);
  spec.set_limit_ns(limit_ns);
  spec.set_seed(request.seed);
  spec.set_search(request.search);
  spec.set_priority(request.priority);
  SetDevices(request, spec);
  spec.set_constant_bytes(work.constant_bytes);
  spec.set_ends_early(!request.full_budget);
  for (const driver::TuningTask& task : work.tasks) {
    v1::TaskSpec& added = *spec.add_tasks();
    added.set_workload(task.def->workload.text);
    added.set_signature(task.signature.ToString());
    added.set_name(ToUtf8(task.name));
    added.set_weight(task.weight);
  }
  return spec;
}

absl::StatusOr<std::string> OnlyTargetOf(const std::string& server) {
  HONE_ASSIGN_OR_RETURN(const ListedWorkers listed, FarmClient(server).Workers());
  std::set<std::string> targets;
  for (const v1::WorkerInfo& worker : listed.workers) {
    for (const v1::Device& device : worker.devices()) targets.insert(device.target());
  }
  if (targets.size() == 1) return *targets.begin();
  const std::string found =
      targets.empty() ? "no worker" : fmt::format("several: {}", fmt::join(targets, "; "));
  return WithExitCode(
      absl::InvalidArgumentError(fmt::format(
          "expected --target, or a server whose workers have one target, found {}", found)),
      kUsage);
}

absl::StatusOr<Target> TargetOf(const TuningRequest& request) {
  TargetOptions options = request.target;
  if (!request.server.empty() && !options.is_given) {
    HONE_ASSIGN_OR_RETURN(options.target, OnlyTargetOf(request.server));
  }
  return options.ResolveAny();
}

}  // namespace

absl::StatusOr<int64_t> ParseDuration(const std::string& text) {
  if (text.empty()) return 0;
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(rest, text.data() + text.size());
  static const std::map<std::string, double> kUnits = {
      {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  const auto found = kUnits.find(unit);
  constexpr double kMostSeconds = 9e9;  // what nanoseconds in 64 bits hold
  // The comparison is written so that it refuses "nan", too, which is read as a number.
  const bool is_one = error == std::errc() && found != kUnits.end() && value > 0 &&
                      value * found->second <= kMostSeconds;
  if (!is_one) {
    return WithExitCode(
        absl::InvalidArgumentError(
            fmt::format("expected a duration such as 90s, 10m or 2h for --time, found '{}'", text)),
        kUsage);
  }
  return static_cast<int64_t>(value * found->second * 1e9);
}

absl::StatusOr<std::vector<TuningRequest>> TuningRequest::Split() const {
  if (models.empty() && !misses) {
    return WithExitCode(absl::InvalidArgumentError("expected a MODEL, or --misses, found neither"),
                        kUsage);
  }
  if (targets.empty()) return std::vector<TuningRequest>{*this};
  std::vector<TuningRequest> requests;
  for (const std::string& text : targets) {
    TuningRequest one = *this;
    one.targets = {text};
    one.target.target = text;
    one.target.is_given = true;
    HONE_ASSIGN_OR_RETURN(const Target read, one.target.ResolveAny());
    for (const TuningRequest& other : requests) {
      HONE_ASSIGN_OR_RETURN(const Target known, other.target.ResolveAny());
      if (known.ToString() != read.ToString()) continue;
      return WithExitCode(absl::InvalidArgumentError(fmt::format(
                              "expected every --target once, found {} twice", known.ToString())),
                          kUsage);
    }
    requests.push_back(std::move(one));
  }
  return requests;
}

void SetDevices(const TuningRequest& request, v1::JobSpec& spec) {
  if (!request.sandbox.empty()) spec.set_sandbox(Sandboxes().at(request.sandbox));
  spec.set_device_class(request.device_class);
}

void TuningRequest::AddTo(CLI::App& verb) {
  verb.add_option("MODEL", models, "Models to tune (.onnx, .pb, .relay)");
  verb.add_flag("--misses", misses,
                "Tunes, with or without models, what compiles for the target found no tuned config "
                "for");
  bindings.AddBindings(verb);
  verb.add_option("--target", targets,
                  "What to generate code for, as text; repeated at a server: a job of each")
      ->default_str(target.target);
  AddThreads(verb, target.threads, "Threads of the target (default: all cores)");
  verb.add_option("--trials", trials, "Trials a task, a total over all jobs ever")
      ->check(WholeNumber<int64_t>(1, tuner::kMostTrials))
      ->capture_default_str();
  verb.add_flag("--full-budget", full_budget,
                "Spends every trial, also where more promise too little of the models' time");
  verb.add_option("--time", time, "Ends the job after this time: 90s, 10m, 2h");
  CLI::Option* db = verb.add_option("--db", database, "The tuning database");
  verb.add_option("--server", server,
                  "A running honed: unix:PATH, a join string, or @FILE with one")
      ->excludes(db);
  verb.add_option("--seed", seed, "Seed of the search")
      ->check(WholeNumber<uint64_t>(0))
      ->capture_default_str();
  verb.add_option("--priority", priority,
                  "Among your jobs of a server greater goes first; a step doubles the share "
                  "against those of others")
      ->check(WholeNumber(-tuner::kMostPriority, tuner::kMostPriority))
      ->capture_default_str();
  verb.add_option(
          "--sandbox", sandbox,
          "At a server: the least that candidates are measured in: limits, contained, strict")
      ->check(CLI::IsMember(Sandboxes()));
  verb.add_option("--device-class", device_class,
                  "At a server: only such devices measure: kind=cpu, name=znver5 or "
                  "fingerprint=DIGITS, or several apart by commas")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return std::string(tuner::CheckDeviceClass(text).message());
          },
          "CLASS"));
  const std::vector<std::string> searches = tuner::SearchesForUsers();
  verb.add_option("--search", search, fmt::format("One of {}", fmt::join(searches, ", ")))
      ->check(CLI::IsMember(searches))
      ->capture_default_str();
}

absl::StatusOr<int64_t> BudgetOf(const TuningWork& work, int64_t limit) {
  int64_t budget = 0;
  for (const driver::TuningTask& task : work.tasks.tasks) {
    HONE_ASSIGN_OR_RETURN(
        const schedule::OpenTask open,
        schedule::OpenTask::Open(
            {.def = task.def.get(), .signature = task.signature, .target = work.target}));
    budget += open.space().Count(std::min(work.spec.trials(), limit));
    if (budget >= limit) return limit;
  }
  return budget;
}

absl::StatusOr<TuningWork> Prepare(const TuningRequest& request) {
  HONE_ASSIGN_OR_RETURN(const int64_t limit_ns, ParseDuration(request.time));
  TuningWork work;
  HONE_ASSIGN_OR_RETURN(work.target, TargetOf(request));
  HONE_ASSIGN_OR_RETURN(work.models, LoadModels(request));
  HONE_RETURN_IF_ERROR(Advance(request, passes::LayoutAim::kExplore, limit_ns, work));
  return work;
}

void NoteFewTrials(const TuningRequest& request) {
  if (request.trials >= tuning_db::kTrialsOfTuned) return;
  fmt::print(stderr,
             "note: fewer than {} trials a task can leave kernels at tier `tuning`, which "
             "--require-tuned refuses\n",
             tuning_db::kTrialsOfTuned);
}

bool IsIdle(const TuningRequest& request, const TuningWork& work) {
  return request.misses && request.models.empty() && work.tasks.tasks.empty();
}

absl::Status Advance(const TuningRequest& request, passes::LayoutAim aim, int64_t limit_ns,
                     TuningWork& work) {
  for (const driver::TuningTask& task : work.tasks.tasks) work.submitted.insert(KeyOf(task));
  driver::ConfigChain configs = MeasuredSoFar(request);
  HONE_ASSIGN_OR_RETURN(work.tasks, CollectTasks(work, aim, configs));
  if (request.misses && work.submitted.empty()) {
    HONE_RETURN_IF_ERROR(AddMisses(request, work.target, work.tasks));
  }
  work.spec = SpecOf(request, work.target, work.tasks, limit_ns);
  return absl::OkStatus();
}

}  // namespace hone::cli
