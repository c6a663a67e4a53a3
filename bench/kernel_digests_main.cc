// What the compiler makes of kernels, as digests, so that two builds of it can be compared
// (scripts/compare-builds). Prints sorted lines of tab-separated columns:
//
//   tasks    target  model      digest of its kernels: names, workloads, layouts and calls
//   default  target  workload  signature  config  nest  features  code
//   measured, alternative       the same without code: the default with times of micro-kernels, and
//                               what a search tries after it
//   sample   target  workload  signature  config  nest
//
// Where a step fails, its message takes the place of the digest.
//
//   kernel_digests --zoo             (prints the names of the zoo's models)
//   kernel_digests --target TEXT... [--model NAME|FILE.onnx]... [--workloads FILE]
//                  [--samples 0]    (random configs of each template on each target)
//                  [--replay FILE]  (lowers the samples of another run's lines instead)
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/kernel_spec.h"
#include "compiler/driver/compile.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/zoo/zoo.h"
#include "compiler/ir/target_flags.h"
#include "compiler/loop/features.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/open_task.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "support/digest.h"
#include "support/random.h"
#include "support/status.h"

namespace hone {
namespace {

struct Options {
  std::vector<std::string> targets;
  std::vector<std::string> models;
  std::string workloads;  // a file with a workload's text a line
  int samples = 0;
  std::string replay;
};

using Definition = std::shared_ptr<const ops::KernelDefinition>;
using Lines = std::set<std::string>;

// The tasks of one target, each once, in an order that does not depend on where they are from.
using Tasks = std::map<std::pair<std::string, std::string>, schedule::Task>;

std::string Short(std::string_view bytes) { return Sha256Hex(bytes).substr(0, 16); }

std::string TextOf(const absl::StatusOr<std::string>& value) {
  if (value.ok()) return *value;
  std::string message(value.status().message());
  for (char& c : message) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return "failed: " + message;
}

// Definitions that tasks point to, for as long as the program runs.
class Kernels {
 public:
  void Add(const Definition& def, const ir::LayoutSignature& signature, const CpuTarget& target,
           Tasks* tasks) {
    const auto [kept, is_new] = defs_.try_emplace(def->workload.text, def);
    tasks->try_emplace({def->workload.text, signature.ToString()},
                       schedule::Task{kept->second.get(), signature, target});
  }
  absl::StatusOr<Definition> Of(const std::string& workload) {
    const auto found = defs_.find(workload);
    if (found != defs_.end()) return found->second;
    HONE_ASSIGN_OR_RETURN(ops::KernelDefinition def, ops::LowerWorkload(workload));
    return defs_.emplace(workload, std::make_shared<const ops::KernelDefinition>(std::move(def)))
        .first->second;
  }

 private:
  std::map<std::string, Definition> defs_;
};

absl::StatusOr<ir::Module> ModelOf(const std::string& name) {
  if (name.ends_with(".onnx")) return frontend::ImportOnnx(name);
  return frontend::ZooModel(name);
}

absl::Status AddModel(const std::string& name, Kernels& kernels,
                      std::vector<std::pair<CpuTarget, Tasks>>& targets, Lines& lines) {
  HONE_ASSIGN_OR_RETURN(const ir::Module module, ModelOf(name));
  for (auto& [target, tasks] : targets) {
    HONE_ASSIGN_OR_RETURN(const driver::ModelTasks model, driver::TasksOf(module, target));
    std::string text;
    for (const driver::TuningTask& task : model.tasks) {
      kernels.Add(task.def, task.signature, target, &tasks);
      text += fmt::format("{} {} {} {}\n", task.name, task.def->workload.text,
                          task.signature.ToString(), task.weight);
    }
    lines.insert(fmt::format("tasks\t{}\t{}\t{}", target.ToString(), name, Short(text)));
  }
  return absl::OkStatus();
}

// The kernel becomes a task in every layout that its template offers.
absl::Status AddWorkload(const std::string& text, Kernels& kernels,
                         std::vector<std::pair<CpuTarget, Tasks>>& targets) {
  HONE_ASSIGN_OR_RETURN(const Definition def, kernels.Of(text));
  for (auto& [target, tasks] : targets) {
    for (const ir::LayoutSignature& s :
         schedule::TemplateFor(*def).Signatures(*def, machine::Machine::For(target))) {
      kernels.Add(def, s, target, &tasks);
    }
  }
  return absl::OkStatus();
}

absl::Status AddWorkloads(const std::string& path, Kernels& kernels,
                          std::vector<std::pair<CpuTarget, Tasks>>& targets) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(fmt::format("expected a file of workloads at {}", path));
  for (std::string line; std::getline(file, line);) {
    HONE_RETURN_IF_ERROR(AddWorkload(line, kernels, targets));
  }
  return absl::OkStatus();
}

// The digest leaves the config's text out: knobs may get other names, the machine code stays.
absl::StatusOr<std::string> CodeDigest(const schedule::Task& task, const schedule::Config& config,
                                       schedule::LoweredConfig lowered) {
  codegen::ModuleSpec spec{.target = task.target, .kernels = {}, .functions = {}};
  codegen::KernelSpec& kernel =
      spec.kernels.emplace_back(codegen::KernelSpecOf(*task.def, config, std::move(lowered)));
  kernel.config.clear();
  kernel.workload.clear();
  kernel.workload_digest.clear();
  HONE_ASSIGN_OR_RETURN(const std::string artifact, codegen::BuildModule(spec));
  return Short(artifact);
}

std::string FeaturesDigest(const loop::Nest& nest, const CpuTarget& target) {
  const loop::NestFeatures features = loop::ExtractFeatures(nest, target);
  return Short(fmt::format("{} {}", fmt::join(features.values, " "), features.analytic_seconds));
}

std::string LineOf(std::string_view kind, const schedule::Task& task, std::string_view config) {
  return fmt::format("{}\t{}\t{}\t{}\t{}", kind, task.target.ToString(), task.def->workload.text,
                     task.signature.ToString(), config);
}

// A config that a template chose: nest, features and, where asked for, code.
void AddChoice(std::string_view kind, const schedule::OpenTask& open,
               const schedule::Config& config, bool has_code, Lines& lines) {
  const schedule::Task& task = open.task();
  std::string line = LineOf(kind, task, config.ToText());
  absl::StatusOr<schedule::LoweredConfig> lowered = open.Lower(config);
  if (!lowered.ok()) {
    lines.insert(line + "\t" + TextOf(lowered.status()));
    return;
  }
  line += "\t" + schedule::NestDigest(lowered->nest).substr(0, 16) + "\t" +
          FeaturesDigest(lowered->nest, *task.target.AsCpu());
  if (has_code) line += "\t" + TextOf(CodeDigest(task, config, *std::move(lowered)));
  lines.insert(std::move(line));
}

// Times of micro-kernels, made up: another tile is the fastest than by the rule.
std::shared_ptr<const schedule::MicroKernelTimes> MadeUpTimes() {
  schedule::MicroKernelTimes::ByTile cycles;
  for (int64_t vectors = 1; vectors <= 6; ++vectors) {
    for (int64_t positions = 1; positions <= 28; ++positions) {
      const auto products = static_cast<double>(vectors * positions);
      cycles[{vectors, positions}] = 3 + products / 2 + (vectors == 3 ? 0.0 : 0.1) * products;
    }
  }
  constexpr double kStreamBytesACycle = 9;
  return std::make_shared<const schedule::MicroKernelTimes>(std::move(cycles), kStreamBytesACycle);
}

void AddChoices(const schedule::Task& task, Lines& lines) {
  const schedule::OpenTask open = schedule::OpenTask::Open(task).value();
  bool is_default = true;
  for (const schedule::Config& config : open.Ranked()) {
    AddChoice(is_default ? "default" : "alternative", open, config, /*has_code=*/is_default, lines);
    is_default = false;
  }
  schedule::Task measured = task;
  measured.micro_kernels = MadeUpTimes();
  const schedule::Config config = schedule::OpenTask::Open(measured).value().Default();
  AddChoice("measured", open, config, /*has_code=*/false, lines);
}

void AddSample(const schedule::OpenTask& open, const schedule::Config& config,
               std::string_view text, Lines& lines) {
  const absl::StatusOr<schedule::LoweredConfig> lowered = open.Lower(config);
  lines.insert(LineOf("sample", open.task(), text) + "\t" +
               (lowered.ok() ? schedule::NestDigest(lowered->nest).substr(0, 16)
                             : TextOf(lowered.status())));
}

// This draws so many configs of each template, spread over its tasks.
void AddSamples(const Tasks& tasks, int count, Lines& lines) {
  std::map<std::string_view, std::vector<const schedule::Task*>> by_template;
  for (const auto& [key, task] : tasks) {
    by_template[schedule::TemplateFor(*task.def).name()].push_back(&task);
  }
  for (auto& [name, of_template] : by_template) {
    Random random(1);
    random.Shuffle(of_template);
    for (int i = 0; i < count; ++i) {
      const schedule::Task& task = *of_template[static_cast<size_t>(i) % of_template.size()];
      const schedule::OpenTask open = schedule::OpenTask::Open(task).value();
      const schedule::Config config = open.space().Sample(random);
      AddSample(open, config, config.ToText(), lines);
    }
  }
}

// This lowers a sample of another run, whose knobs may have had other names.
absl::Status Replay(const std::string& line, Kernels& kernels, Lines& lines) {
  const std::vector<std::string_view> columns = ir::SplitText(line, '\t');
  if (columns.size() < 6 || columns[0] != "sample") return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const CpuTarget target, CpuTarget::Parse(columns[1]));
  HONE_ASSIGN_OR_RETURN(const Definition def, kernels.Of(std::string(columns[2])));
  HONE_ASSIGN_OR_RETURN(const ir::LayoutSignature signature, ops::ParseSignature(*def, columns[3]));
  HONE_ASSIGN_OR_RETURN(const schedule::Config config, schedule::Config::Parse(columns[4]));
  HONE_ASSIGN_OR_RETURN(const schedule::OpenTask open,
                        schedule::OpenTask::Open({def.get(), signature, target}));
  const auto migrated = open.space().Migrate(config);
  if (migrated) {
    AddSample(open, *migrated, columns[4], lines);
  } else {
    lines.insert(LineOf("sample", open.task(), columns[4]) + "\tfailed: not in the space");
  }
  return absl::OkStatus();
}

absl::Status ReplayFile(const std::string& path, Kernels& kernels, Lines& lines) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(fmt::format("expected lines of another run at {}", path));
  for (std::string line; std::getline(file, line);) {
    HONE_RETURN_IF_ERROR(Replay(line, kernels, lines));
  }
  return absl::OkStatus();
}

absl::Status Run(const Options& options) {
  Kernels kernels;
  Lines lines;
  std::vector<std::pair<CpuTarget, Tasks>> targets;
  for (const std::string& text : options.targets) {
    HONE_ASSIGN_OR_RETURN(CpuTarget target, CpuTarget::Parse(text));
    targets.emplace_back(std::move(target), Tasks());
  }
  for (const std::string& model : options.models) {
    HONE_RETURN_IF_ERROR(AddModel(model, kernels, targets, lines));
    fmt::print(stderr, "{}\n", model);
  }
  if (!options.workloads.empty()) {
    HONE_RETURN_IF_ERROR(AddWorkloads(options.workloads, kernels, targets));
  }
  for (const auto& [target, tasks] : targets) {
    for (const auto& [key, task] : tasks) AddChoices(task, lines);
    AddSamples(tasks, options.replay.empty() ? options.samples : 0, lines);
    fmt::print(stderr, "{}: {} tasks\n", target.ToString(), tasks.size());
  }
  if (!options.replay.empty()) HONE_RETURN_IF_ERROR(ReplayFile(options.replay, kernels, lines));
  for (const std::string& line : lines) fmt::print("{}\n", line);
  return absl::OkStatus();
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  CLI::App app("Digests of nests and code, to compare two builds of the compiler");
  hone::Options options;
  app.add_option("--target", options.targets, "Texts of targets");
  app.add_option("--model", options.models, "Names of the zoo, or ONNX files");
  app.add_option("--workloads", options.workloads, "A file with a workload's text a line");
  app.add_option("--samples", options.samples, "Random configs of each template on each target");
  app.add_option("--replay", options.replay, "Lines of another run, whose samples are lowered");
  bool lists_zoo = false;
  app.add_flag("--zoo", lists_zoo, "Prints the names of the zoo instead");
  CLI11_PARSE(app, argc, argv);
  if (lists_zoo) {
    fmt::print("{}\n", fmt::join(hone::frontend::ZooNames(), "\n"));
    return 0;
  }
  const absl::Status status = hone::Run(options);
  if (status.ok()) return 0;
  fmt::print(stderr, "kernel_digests: {}\n", std::string(status.message()));
  return 1;
}
