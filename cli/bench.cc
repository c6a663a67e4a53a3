// `hone bench`: times a model, alone or side by side with another.
#include <algorithm>
#include <map>

#include "CLI/CLI.hpp"
#include "cli/compiled_model.h"
#include "cli/json_document.h"
#include "cli/progress.h"
#include "cli/timed_model.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "runtime/specialisation.h"
#include "support/median.h"
#include "support/paired_ratio.h"
#include "support/status.h"

namespace hone::cli {
namespace {

constexpr int kBenchRounds = 15;

struct BenchOptions {
  ModelOptions model;
  std::string compare;
  ConfigOptions configs;
  int threads = 0;
  bool profile = false;
  bool json = false;
};

absl::StatusOr<TimedModel> MakeTimed(const ModelOptions& model, const BenchOptions& options) {
  HONE_ASSIGN_OR_RETURN(Specialisation wanted,
                        ParseOneSpecialisation(model.shapes, model.dims, "bench"));
  if (IsModelSource(model)) wanted.shapes.clear();  // bound by the import
  HONE_ASSIGN_OR_RETURN(CompiledModel compiled,
                        OpenOrCompile(model, options.threads, options.configs));
  return TimedModel::Of(std::move(compiled), wanted.shapes);
}

nlohmann::json KernelsOf(const TimedModel& timed) {
  nlohmann::json kernels = nlohmann::json::array();
  for (uint32_t c = 0; c < timed.function().call_count; ++c) {
    const hone_kernel& kernel = timed.table().kernels[timed.function().calls[c].kernel];
    const auto trips = static_cast<double>(TripsOf(timed.table(), timed.function(), c));
    kernels.push_back(
        {{"name", kernel.name},
         {"workload", kernel.workload},
         {"tier", kernel.tier},
         {"config", kernel.config},
         {"median_us", timed.call_ns().empty() ? 0.0 : Median(timed.call_ns()[c]) * 1e-3},
         {"flops", kernel.flops * trips}});
  }
  return kernels;
}

nlohmann::json Describe(const TimedModel& timed) {
  const std::vector<double>& rounds = timed.round_ns();
  return {{"median_us", Median(rounds) * 1e-3},
          {"min_us", *std::min_element(rounds.begin(), rounds.end()) * 1e-3},
          {"threads", timed.threads()},
          {"inputs", ShapesText(timed.function())},
          {"runs_a_round", timed.runs_a_round()},
          {"rounds", kBenchRounds},
          {"kernels", KernelsOf(timed)}};
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

// What the comparison says, as a sentence.
std::string Verdict(const BenchOptions& options, const nlohmann::json& document) {
  const double low = document["ratio_low"];
  const double high = document["ratio_high"];
  const std::string figures =
      fmt::format("{:.3f} times as fast (95 % interval {:.3f} to {:.3f}, {} rounds in turns)",
                  document["ratio"].get<double>(), low, high, kBenchRounds);
  if (low <= 1 && 1 <= high) {
    return fmt::format("{} and {} are equally fast, as far as these rounds tell: {}",
                       ModelName(options.model.path), ModelName(options.compare), figures);
  }
  return fmt::format("{} is {} {}: {}", ModelName(options.model.path),
                     low > 1 ? "faster than" : "slower than", ModelName(options.compare), figures);
}

absl::Status Bench(const BenchOptions& options) {
  HONE_ASSIGN_OR_RETURN(TimedModel timed, MakeTimed(options.model, options));
  std::vector<TimedModel> others;
  if (!options.compare.empty()) {
    ModelOptions compared = options.model;
    compared.path = options.compare;
    if (!IsModelSource(compared)) {  // has its own
      compared.numerics.clear();
      compared.constants.clear();
    }
    HONE_ASSIGN_OR_RETURN(TimedModel other, MakeTimed(compared, options));
    others.push_back(std::move(other));
  }
  timed.WarmUp();
  for (TimedModel& other : others) other.WarmUp();
  std::vector<TimedModel*> models = {&timed};
  for (TimedModel& other : others) models.push_back(&other);
  RunInTurns(models, &TimedModel::Round, kBenchRounds);
  if (options.profile) RunInTurns(models, &TimedModel::Profile, kBenchRounds);
  for (const TimedModel* model : models) HONE_RETURN_IF_ERROR(model->status());
  nlohmann::json document = Describe(timed);
  document["schema"] = 1;
  if (!others.empty()) {
    document["compare"] = Describe(others[0]);
    // Above 1, this one is faster.
    const PairedRatio ratio = RatioOf(others[0].round_ns(), timed.round_ns());
    document["ratio"] = ratio.median;
    document["ratio_low"] = ratio.low;
    document["ratio_high"] = ratio.high;
  }
  if (options.json) {
    PrintDocument(document);
    return absl::OkStatus();
  }
  if (options.profile) PrintKernels(document);
  if (timed.table().function_count > 1) {
    fmt::print("specialisation {}\n", document["inputs"].get<std::string>());
  }
  fmt::print("model: median {}, best {}, {} threads",
             FormatNs(document["median_us"].get<double>() * 1e3),
             FormatNs(document["min_us"].get<double>() * 1e3), timed.threads());
  if (!others.empty()) {
    fmt::print("; other {}", FormatNs(document["compare"]["median_us"].get<double>() * 1e3));
  }
  fmt::print("\n");
  if (!others.empty()) fmt::print("{}\n", Verdict(options, document));
  return absl::OkStatus();
}

}  // namespace

void AddBench(CLI::App& app, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App& verb = *app.add_subcommand("bench", "Time a model, alone or beside another");
  verb.add_option("MODEL", options->model.path,
                  "The model (.onnx, .pb, .relay) or a compiled module (.so)")
      ->required();
  options->model.AddBindings(verb);
  verb.add_option("--compare", options->compare, "Another model or module, timed in turn with it");
  AddThreads(verb, options->threads, "Threads (default: as compiled)");
  options->configs.AddTo(verb);
  verb.add_flag("--profile", options->profile, "Times every kernel where it stands in the model");
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &action] { action = [options] { return Bench(*options); }; });
}

}  // namespace hone::cli
