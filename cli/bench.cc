// `hone bench`: times a model, alone or side by side with another.
#include <algorithm>
#include <cstring>
#include <map>

#include "CLI/CLI.hpp"
#include "cli/compiled_model.h"
#include "cli/json_document.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "runtime/data_type.h"
#include "runtime/specialisation.h"
#include "support/median.h"
#include "support/random.h"
#include "support/status.h"

namespace hone::cli {
namespace {

constexpr int kRounds = 11;
constexpr double kRoundSeconds = 0.1;
constexpr int kProfileRuns = 7;  // of a round

struct Options {
  ModelOptions model;
  std::string compare;
  std::string database;
  int threads = 0;
  bool profile = false;
  bool json = false;
};

// Floats in [-1, 1], other inputs zero: figures must not depend on what happened to be in memory.
void FillInputs(Executor& executor) {
  Random random(1);
  for (uint32_t i = 0; i < executor.function().input_count; ++i) {
    const hone_value& value = executor.function().inputs[i];
    std::memset(executor.Input(i), 0, value.size_bytes);
    if (static_cast<DataType>(value.dtype) != DataType::kFloat32) continue;
    auto* floats = static_cast<float*>(executor.Input(i));
    for (uint64_t e = 0; e < value.size_bytes / sizeof(float); ++e) {
      floats[e] = static_cast<float>(2 * random.Uniform() - 1);
    }
  }
}

// One model under the clock.
struct Runner {
  CompiledModel model;
  std::unique_ptr<Executor> executor;
  int64_t runs = 1;                               // that fill a round
  std::vector<double> round_ns = {};              // nanoseconds a run
  std::vector<std::vector<double>> call_ns = {};  // of each call, one figure a round

  void WarmUp() {
    FillInputs(*executor);
    double seconds = executor->Time(1);
    while (seconds < kRoundSeconds) {
      runs = std::max(runs + 1, static_cast<int64_t>(static_cast<double>(runs) * 1.5));
      seconds = executor->Time(runs);
    }
  }
  void Profile() {
    const std::vector<double> medians = executor->Profile(kProfileRuns);
    call_ns.resize(medians.size());
    for (size_t c = 0; c < medians.size(); ++c) call_ns[c].push_back(medians[c]);
  }
  void Round() { round_ns.push_back(executor->Time(runs) * 1e9 / static_cast<double>(runs)); }
};

absl::StatusOr<Runner> MakeRunner(const ModelOptions& model, const Options& options) {
  HONE_ASSIGN_OR_RETURN(ShapeBindings shapes, ParseOneShape(model.shapes, "bench"));
  if (IsModelSource(model)) shapes.clear();  // bound by the import
  Runner runner;
  HONE_ASSIGN_OR_RETURN(runner.model, OpenOrCompile(model, options.threads, options.database));
  HONE_ASSIGN_OR_RETURN(runner.executor, MakeExecutor(runner.model, shapes));
  return runner;
}

nlohmann::json KernelsOf(Runner& runner) {
  Executor& executor = *runner.executor;
  const hone_module& table = runner.model.module->table();
  nlohmann::json kernels = nlohmann::json::array();
  for (uint32_t c = 0; c < executor.function().call_count; ++c) {
    const hone_kernel& kernel = table.kernels[executor.function().calls[c].kernel];
    kernels.push_back(
        {{"name", kernel.name},
         {"workload", kernel.workload},
         {"tier", kernel.tier},
         {"config", kernel.config},
         {"median_us", runner.call_ns.empty() ? 0.0 : Median(runner.call_ns[c]) * 1e-3},
         {"flops", kernel.flops}});
  }
  return kernels;
}

nlohmann::json Describe(Runner& runner) {
  return {{"median_us", Median(runner.round_ns) * 1e-3},
          {"min_us", *std::min_element(runner.round_ns.begin(), runner.round_ns.end()) * 1e-3},
          {"threads", runner.executor->threads()},
          {"inputs", ShapesText(runner.executor->function())},
          {"runs_a_round", runner.runs},
          {"rounds", kRounds},
          {"kernels", KernelsOf(runner)}};
}

// The median of the per-round ratios other / this: above 1, this is faster.
double PairedRatio(const Runner& runner, const Runner& other) {
  std::vector<double> ratios;
  for (size_t i = 0; i < runner.round_ns.size(); ++i)
    ratios.push_back(other.round_ns[i] / runner.round_ns[i]);
  return Median(ratios);
}

void PrintKernels(const nlohmann::json& document) {
  fmt::print("{:<52} {:<9} {:>12} {:>10}", "kernel", "tier", "median", "GFLOP/s");
  const bool compare = document.contains("compare");
  // Kernels are paired by workload: the other module may have been compiled in another order.
  std::map<std::string, std::vector<double>> others;
  if (compare) {
    fmt::print(" {:>12} {:>7}", "other", "ratio");
    for (const nlohmann::json& kernel : document["compare"]["kernels"]) {
      others[kernel["workload"]].push_back(kernel["median_us"]);
    }
  }
  fmt::print("\n");
  std::map<std::string, size_t> used;
  for (const nlohmann::json& kernel : document["kernels"]) {
    const double us = kernel["median_us"];
    const double gflops = us > 0 ? kernel["flops"].get<double>() / us * 1e-3 : 0;
    fmt::print("{:<52} {:<9} {:>12} {:>10.1f}", kernel["name"].get<std::string>(),
               kernel["tier"].get<std::string>(), FormatNs(us * 1e3), gflops);
    const std::vector<double>& same = others[kernel["workload"]];
    const size_t at = used[kernel["workload"]]++;
    if (at < same.size())
      fmt::print(" {:>12} {:>6.2f}x", FormatNs(same[at] * 1e3), us > 0 ? same[at] / us : 0);
    fmt::print("\n");
  }
}

absl::Status Bench(const Options& options) {
  HONE_ASSIGN_OR_RETURN(Runner runner, MakeRunner(options.model, options));
  std::vector<Runner> others;
  if (!options.compare.empty()) {
    ModelOptions compared = options.model;
    compared.path = options.compare;
    if (!IsModelSource(compared)) {  // has its own
      compared.numerics.clear();
      compared.constants.clear();
    }
    HONE_ASSIGN_OR_RETURN(Runner other, MakeRunner(compared, options));
    others.push_back(std::move(other));
  }
  runner.WarmUp();
  for (Runner& other : others) other.WarmUp();
  for (int round = 0; round < kRounds; ++round) {
    runner.Round();
    for (Runner& other : others) other.Round();
  }
  for (int round = 0; options.profile && round < kRounds; ++round) {
    runner.Profile();
    for (Runner& other : others) other.Profile();
  }
  nlohmann::json document = Describe(runner);
  document["schema"] = 1;
  if (!others.empty()) {
    document["compare"] = Describe(others[0]);
    document["ratio"] = PairedRatio(runner, others[0]);
  }
  if (options.json) {
    PrintDocument(document);
    return absl::OkStatus();
  }
  if (options.profile) PrintKernels(document);
  if (runner.model.module->table().function_count > 1) {
    fmt::print("specialisation {}\n", document["inputs"].get<std::string>());
  }
  fmt::print("model: median {}, best {}, {} threads",
             FormatNs(document["median_us"].get<double>() * 1e3),
             FormatNs(document["min_us"].get<double>() * 1e3), runner.executor->threads());
  if (!others.empty()) {
    fmt::print("; other {}; ratio {:.2f}x (median of {} paired rounds)",
               FormatNs(document["compare"]["median_us"].get<double>() * 1e3),
               document["ratio"].get<double>(), kRounds);
  }
  fmt::print("\n");
  return absl::OkStatus();
}

}  // namespace

void AddBench(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App& verb = *app.add_subcommand("bench", "Time a model, alone or beside another");
  verb.add_option("MODEL", options->model.path,
                  "The model (.onnx, .pb, .relay) or a compiled module (.so)")
      ->required();
  options->model.AddBindings(verb);
  verb.add_option("--compare", options->compare, "Another model or module, timed in turn with it");
  AddThreads(verb, options->threads, "Threads (default: as compiled)");
  verb.add_option("--db", options->database, "The tuning database");
  verb.add_flag("--profile", options->profile, "Times every kernel where it stands in the model");
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &action] { action = [options] { return Bench(*options); }; });
}

}  // namespace hone::cli
