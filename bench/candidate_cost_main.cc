// What a candidate costs from its config to its artifact, phase by phase: random configs of one
// workload's space. Prints one JSON document.
//
//   candidate_cost WORKLOAD [--count 50] [--strategy NAME] [--signature 0|NCHW->NCHW] [--threads 1]
//                  [--target native]     (another one: nothing is run)
//                  [--config TEXT|default]
//                  [--lower]             (nests only, no code)
//                  [--each]              (figures of every config too)
//                  [--nest|--ir|--asm]   (of the first config, instead)
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/kernel_spec.h"
#include "compiler/loop/features.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/open_task.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "support/clock.h"
#include "support/random.h"
#include "support/status.h"

namespace hone {
namespace {

struct Options {
  std::string workload;
  std::string strategy;
  std::string target = "native";
  std::string config;  // of which to print; "default"; empty: a random one
  int count = 50;
  std::string signature = "0";
  int threads = 1;
  bool lowers_only = false;
  bool prints_each = false;
  bool prints_nest = false, prints_ir = false, prints_assembly = false;
};

// What the steps of one config take, in milliseconds.
struct Cost {
  std::string strategy;  // empty: the template has none
  double lower = 0, digest = 0, features = 0;
  double emit = 0, optimise = 0, machine_code = 0, link = 0;
  double ir = 0;     // config to LLVM IR: lower and emit
  double total = 0;  // config to artifact; digest and features are no part of it
  double bytes = 0;  // of the artifact
};

using Phase = double Cost::*;
constexpr std::pair<const char*, Phase> kLowering[] = {
    {"lower_ms", &Cost::lower}, {"digest_ms", &Cost::digest}, {"features_ms", &Cost::features}};
constexpr std::pair<const char*, Phase> kBuilding[] = {{"emit_ms", &Cost::emit},
                                                       {"optimise_ms", &Cost::optimise},
                                                       {"machine_code_ms", &Cost::machine_code},
                                                       {"link_ms", &Cost::link},
                                                       {"ir_ms", &Cost::ir},
                                                       {"total_ms", &Cost::total},
                                                       {"artifact_bytes", &Cost::bytes}};

double MsSince(int64_t start_ns) {
  return static_cast<double>(Clock::Real().NowNs() - start_ns) * 1e-6;
}

codegen::ModuleSpec ArtifactOf(const schedule::Task& task, const schedule::Config& config,
                               schedule::LoweredConfig lowered) {
  codegen::ModuleSpec spec;
  spec.target = task.target;
  spec.kernels.push_back(codegen::KernelSpecOf(*task.def, config, std::move(lowered)));
  return spec;
}

absl::StatusOr<Cost> Measure(const schedule::OpenTask& open, const schedule::Config& config,
                             bool lowers_only, codegen::LaunchCache& cache) {
  Cost cost;
  if (config.Has("strategy")) cost.strategy = config.String("strategy");
  const int64_t start = Clock::Real().NowNs();
  HONE_ASSIGN_OR_RETURN(schedule::LoweredConfig candidate, open.Lower(config));
  cost.lower = MsSince(start);
  const int64_t lowered = Clock::Real().NowNs();
  (void)schedule::NestDigest(candidate.nest);
  cost.digest = MsSince(lowered);
  const int64_t digested = Clock::Real().NowNs();
  (void)loop::ExtractFeatures(candidate.nest, *open.task().target.AsCpu());
  cost.features = MsSince(digested);
  if (lowers_only) return cost;
  const codegen::ModuleSpec spec = ArtifactOf(open.task(), config, std::move(candidate));
  const int64_t built = Clock::Real().NowNs();
  codegen::BuildTimes times;
  HONE_ASSIGN_OR_RETURN(const std::string artifact, codegen::BuildModule(spec, &times, &cache));
  cost.total = cost.lower + MsSince(built);
  cost.emit = static_cast<double>(times.emit_ns) * 1e-6;
  cost.optimise = static_cast<double>(times.optimise_ns) * 1e-6;
  cost.machine_code = static_cast<double>(times.machine_code_ns) * 1e-6;
  cost.link = static_cast<double>(times.link_ns) * 1e-6;
  cost.ir = cost.lower + cost.emit;
  cost.bytes = static_cast<double>(artifact.size());
  return cost;
}

absl::Status Print(const schedule::OpenTask& open, const schedule::Config& config,
                   const Options& options) {
  HONE_ASSIGN_OR_RETURN(schedule::LoweredConfig candidate, open.Lower(config));
  fmt::print("// {}\n", config.ToText());
  if (options.prints_nest) fmt::print("{}", loop::ToText(candidate.nest));
  const codegen::ModuleSpec spec = ArtifactOf(open.task(), config, std::move(candidate));
  if (options.prints_ir) {
    HONE_ASSIGN_OR_RETURN(const std::string ir, codegen::EmitLlvmIr(spec));
    fmt::print("{}", ir);
  }
  if (options.prints_assembly) {
    HONE_ASSIGN_OR_RETURN(const std::string assembly, codegen::EmitAssembly(spec));
    fmt::print("{}", assembly);
  }
  return absl::OkStatus();
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<int64_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

nlohmann::json Summary(const std::vector<Cost>& costs, bool lowers_only) {
  nlohmann::json summary = {{"configs", costs.size()}};
  const auto add = [&](const char* name, Phase phase) {
    std::vector<double> values;
    for (const Cost& cost : costs) values.push_back(cost.*phase);
    summary[name] = {{"median", Quantile(values, 0.5)}, {"p90", Quantile(values, 0.9)}};
  };
  for (const auto& [name, phase] : kLowering) add(name, phase);
  if (lowers_only) return summary;
  for (const auto& [name, phase] : kBuilding) add(name, phase);
  return summary;
}

// Every config's figures, for those who take medians over workloads.
nlohmann::json Each(const std::vector<Cost>& costs) {
  nlohmann::json each = nlohmann::json::array();
  for (const Cost& cost : costs) {
    each.push_back({{"strategy", cost.strategy}});
    for (const auto& [name, phase] : kLowering) each.back()[name] = cost.*phase;
    for (const auto& [name, phase] : kBuilding) each.back()[name] = cost.*phase;
  }
  return each;
}

// Its text or its index.
absl::StatusOr<ir::LayoutSignature> SignatureOf(const std::vector<ir::LayoutSignature>& signatures,
                                                const std::string& wanted) {
  for (size_t i = 0; i < signatures.size(); ++i) {
    if (wanted == signatures[i].ToString() || wanted == std::to_string(i)) return signatures[i];
  }
  return absl::InvalidArgumentError(
      fmt::format("expected one of {} layout signatures, found {}", signatures.size(), wanted));
}

absl::Status Run(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const ops::KernelDefinition def, ops::LowerWorkload(options.workload));
  HONE_ASSIGN_OR_RETURN(CpuTarget target, CpuTarget::Parse(options.target));
  target.threads = options.threads;
  const std::vector<ir::LayoutSignature> signatures =
      schedule::TemplateFor(def).Signatures(def, machine::Machine::For(target));
  HONE_ASSIGN_OR_RETURN(const ir::LayoutSignature signature,
                        SignatureOf(signatures, options.signature));
  HONE_ASSIGN_OR_RETURN(const schedule::OpenTask open,
                        schedule::OpenTask::Open({&def, signature, target}));
  if (!options.config.empty()) {
    if (options.config == "default") return Print(open, open.Default(), options);
    HONE_ASSIGN_OR_RETURN(const schedule::Config config, schedule::Config::Parse(options.config));
    return Print(open, config, options);
  }
  const schedule::Space space = open.space();
  Random random(1);
  std::vector<Cost> costs;
  codegen::LaunchCache cache;
  int failures = 0;
  for (int i = 0, tries = 0; i < options.count && tries < 100 * options.count; ++tries) {
    const schedule::Config config = space.Sample(random);
    if (!options.strategy.empty() &&
        (!config.Has("strategy") || config.String("strategy") != options.strategy)) {
      continue;
    }
    if (options.prints_nest || options.prints_ir || options.prints_assembly) {
      return Print(open, config, options);
    }
    const absl::StatusOr<Cost> cost = Measure(open, config, options.lowers_only, cache);
    if (cost.ok()) {
      costs.push_back(*cost);
    } else {
      ++failures;
      fmt::print(stderr, "{}: {}\n", config.ToText(), std::string(cost.status().message()));
    }
    ++i;
  }
  nlohmann::json document = Summary(costs, options.lowers_only);
  document["template"] = std::string(open.template_name());
  document["failures"] = failures;
  if (options.prints_each) document["each"] = Each(costs);
  fmt::print("{}\n", document.dump(1));
  return absl::OkStatus();
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  CLI::App app("The cost of candidates, from config to artifact");
  hone::Options options;
  app.add_option("WORKLOAD", options.workload, "As `hone explain` prints it")->required();
  app.add_option("--count", options.count, "Random configs");
  app.add_option("--strategy", options.strategy, "Only configs of this strategy");
  app.add_option("--signature", options.signature, "The layout signature, or its index");
  app.add_option("--threads", options.threads, "Threads of the target");
  app.add_option("--target", options.target, "Text of the target");
  app.add_option("--config", options.config, "The config to print, or \"default\"");
  app.add_flag("--lower", options.lowers_only, "Nests only, no code");
  app.add_flag("--each", options.prints_each, "Figures of every config too");
  app.add_flag("--nest", options.prints_nest, "Prints the first config's nest");
  app.add_flag("--ir", options.prints_ir, "Prints the first config's LLVM IR");
  app.add_flag("--asm", options.prints_assembly, "Prints the first config's assembly");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = hone::Run(options);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", std::string(status.message()));
  return 1;
}
