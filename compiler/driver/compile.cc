#include "compiler/driver/compile.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/kernel_spec.h"
#include "compiler/codegen/parameters.h"
#include "compiler/driver/pass_context.h"
#include "compiler/driver/plan.h"
#include "compiler/driver/prepare.h"
#include "compiler/passes/pipeline.h"
#include "fmt/format.h"
#include "support/clock.h"
#include "support/status.h"

namespace hone::driver {
namespace {

constexpr char kNotTuned[] = "hone.dev/not-tuned";

// The seconds since the phase before.
class Phases {
 public:
  explicit Phases(CompileReport& report) : report_(report) {}
  void End(const std::string& phase) {
    const int64_t now_ns = Clock::Real().NowNs();
    report_.seconds.emplace_back(phase, static_cast<double>(now_ns - start_ns_) * 1e-9);
    start_ns_ = now_ns;
  }

 private:
  CompileReport& report_;
  int64_t start_ns_ = Clock::Real().NowNs();
};

// The config and nest of each kernel.
absl::StatusOr<std::vector<ConfigChain::Scheduled>> ScheduleKernels(const KernelGraph& graph,
                                                                    const Target& target,
                                                                    ConfigChain& configs) {
  std::vector<ConfigChain::Scheduled> scheduled;
  for (const Kernel& kernel : graph.kernels) {
    const schedule::Task task{
        .def = kernel.def.get(), .signature = kernel.signature, .target = target};
    HONE_ASSIGN_OR_RETURN(ConfigChain::Scheduled chosen, configs.Schedule(task));
    scheduled.push_back(std::move(chosen));
  }
  return scheduled;
}

std::vector<KernelReport> ReportKernels(const KernelGraph& graph,
                                        const std::vector<ConfigChain::Scheduled>& scheduled) {
  std::vector<KernelReport> reports;
  for (size_t k = 0; k < graph.kernels.size(); ++k) {
    const Kernel& kernel = graph.kernels[k];
    reports.push_back({.name = kernel.name,
                       .workload = kernel.def->workload.text,
                       .workload_digest = kernel.def->workload.digest,
                       .signature = kernel.signature.ToString(),
                       .tier = scheduled[k].choice.tier,
                       .config = scheduled[k].choice.config.ToText(),
                       .flops = kernel.def->flops,
                       .calls = kernel.calls,
                       .specialisations = kernel.specialisations});
  }
  return reports;
}

absl::Status CheckTuned(const CompileReport& report) {
  std::string names;
  size_t count = 0;
  for (const KernelReport& kernel : report.kernels) {
    if (IsTuned(kernel)) continue;
    if (count++ < 5)
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", kernel.name, kernel.tier);
  }
  if (count == 0) return absl::OkStatus();
  absl::Status status = absl::FailedPreconditionError(
      fmt::format("expected every kernel tuned, found {} of {} that are not: {}{}; run hone tune, "
                  "with 64 trials a task or more",
                  count, report.kernels.size(), names, count > 5 ? ", ..." : ""));
  status.SetPayload(kNotTuned, absl::Cord());
  return status;
}

codegen::ModuleSpec SpecOf(const KernelGraph& graph, const Target& target,
                           const CompileReport& report,
                           const std::vector<ConfigChain::Scheduled>& scheduled) {
  codegen::ModuleSpec spec{.target = target, .kernels = {}, .functions = {}, .parameters_bytes = 0};
  for (size_t k = 0; k < graph.kernels.size(); ++k) {
    codegen::KernelSpec kernel = codegen::KernelSpecOf(
        *graph.kernels[k].def, scheduled[k].choice.config, scheduled[k].lowered);
    kernel.name = report.kernels[k].name;
    kernel.tier = report.kernels[k].tier;
    kernel.nest = OnlyPhase(kernel.nest, loop::Phase::kRun);
    spec.kernels.push_back(std::move(kernel));
  }
  return spec;
}

SpecialisationReport ReportSpecialisation(const Specialisation& graph,
                                          const PlannedFunction& planned) {
  SpecialisationReport report{.inputs = {},
                              .names = {},
                              .calls = static_cast<int>(graph.calls.size()),
                              .arena_bytes = planned.spec.arena_bytes,
                              .peak_live_bytes = planned.peak_live_bytes,
                              .skeleton = graph.skeleton,
                              .layouts = graph.layouts};
  for (const int id : graph.inputs) {
    report.inputs.push_back(graph.values[id].type);
    report.names.push_back(graph.values[id].name);
  }
  return report;
}

// Every specialisation through the passes, in turn: each one's graph goes before the next comes,
// and with it the weights that are not the kernel graph's.
absl::StatusOr<KernelGraph> LowerToKernels(std::vector<ir::Module> modules, const Target& target,
                                           ConfigChain* configs, passes::LayoutAim aim) {
  KernelGraphBuilder builder;
  std::vector<std::string> skeletons;
  std::vector<std::vector<std::string>> layouts;
  for (ir::Module& next : modules) {
    const ir::Module module = std::move(next);
    passes::PassContext context = MakePassContext(target, configs, aim);
    skeletons.emplace_back();
    layouts.emplace_back();
    context.on_layouts = [&](const std::string& skeleton, std::vector<std::string> chosen) {
      skeletons.back() = skeleton;
      layouts.back() = std::move(chosen);
    };
    HONE_ASSIGN_OR_RETURN(const ir::Module lowered, passes::RunPipeline(module, context, {}));
    HONE_RETURN_IF_ERROR(builder.Add(lowered));
  }
  KernelGraph graph = builder.Take();
  for (size_t s = 0; s < graph.specialisations.size(); ++s) {
    graph.specialisations[s].skeleton = std::move(skeletons[s]);
    graph.specialisations[s].layouts = std::move(layouts[s]);
  }
  return graph;
}

std::vector<TuningTask> TasksOfKernels(const KernelGraph& graph) {
  std::vector<TuningTask> tasks;
  for (const Kernel& kernel : graph.kernels) {
    tasks.push_back({.name = kernel.name,
                     .def = kernel.def,
                     .signature = kernel.signature,
                     .weight = static_cast<double>(kernel.calls),
                     .specialisations = kernel.specialisations});
  }
  return tasks;
}

// The runtime makes a graph of a model for CUDA, in which launches wait for what they depend on.
passes::CallOrder OrderOn(const Target& target) {
  return std::holds_alternative<CudaTarget>(target.kind) ? passes::CallOrder::kByDependency
                                                         : passes::CallOrder::kInTurn;
}

// Where all lies: the functions of `spec`, and what the report says of them.
void PlanFunctions(const KernelGraph& graph, const std::vector<loop::Nest>& nests,
                   const ParameterPlan& parameters, codegen::ModuleSpec& spec,
                   CompileReport& report) {
  for (size_t s = 0; s < graph.specialisations.size(); ++s) {
    PlannedFunction planned =
        PlanFunction(graph.specialisations[s], nests, parameters.offsets[s], OrderOn(spec.target));
    if (planned.spec.arena_bytes >= report.arena_bytes) {
      report.arena_bytes = planned.spec.arena_bytes;
      report.peak_live_bytes = planned.peak_live_bytes;
    }
    report.specialisations.push_back(ReportSpecialisation(graph.specialisations[s], planned));
    spec.functions.push_back(std::move(planned.spec));
  }
  spec.parameters_bytes = parameters.size_bytes;
  report.parameters_bytes = parameters.size_bytes;
}

}  // namespace

absl::StatusOr<ir::Module> RunPasses(const ir::Module& module, const Target& target,
                                     const std::string& after, const OnPass& on_pass,
                                     ConfigChain* configs, passes::LayoutAim aim) {
  return passes::RunPipeline(module, MakePassContext(target, configs, aim),
                             {.after = after, .on_pass = on_pass});
}

absl::StatusOr<ir::Module> RunPass(const ir::Module& module, const Target& target,
                                   const std::string& name) {
  return passes::RunOne(
      module, MakePassContext(target, /*configs=*/nullptr, passes::LayoutAim::kSettled), name);
}

absl::StatusOr<std::string> GeneratedCode(const ir::Module& module, const Target& target,
                                          ConfigChain& configs, CodeForm form) {
  CompileReport report;
  report.target = target.ToString();
  HONE_ASSIGN_OR_RETURN(const KernelGraph graph,
                        LowerToKernels({module}, target, &configs, passes::LayoutAim::kSettled));
  HONE_ASSIGN_OR_RETURN(const std::vector<ConfigChain::Scheduled> scheduled,
                        ScheduleKernels(graph, target, configs));
  report.kernels = ReportKernels(graph, scheduled);
  codegen::ModuleSpec spec = SpecOf(graph, target, report, scheduled);
  if (form == CodeForm::kLlvmIr) return codegen::EmitLlvmIr(spec);
  if (form == CodeForm::kAssembly) return codegen::EmitAssembly(spec);
  std::string nests;
  for (const codegen::KernelSpec& kernel : spec.kernels) nests += loop::ToText(kernel.nest) + "\n";
  return nests;
}

absl::StatusOr<ModelTasks> TasksOf(std::span<const ir::Module> modules, const Target& target,
                                   ConfigChain* configs, passes::LayoutAim aim) {
  HONE_ASSIGN_OR_RETURN(const KernelGraph graph,
                        LowerToKernels({modules.begin(), modules.end()}, target, configs, aim));
  ModelTasks model{.tasks = TasksOfKernels(graph)};
  for (const Specialisation& specialisation : graph.specialisations) {
    uint64_t bytes = 0;  // of one run, which is of one specialisation
    for (const Value& value : specialisation.values) {
      if (value.kind == Value::Kind::kConstant)
        bytes += static_cast<uint64_t>(value.type.SizeBytes());
    }
    model.constant_bytes = std::max(model.constant_bytes, bytes);
  }
  return model;
}

absl::StatusOr<std::vector<TuningTask>> UnmeasuredDefaults(std::span<const ir::Module> modules,
                                                           const Target& target,
                                                           ConfigChain& configs) {
  HONE_ASSIGN_OR_RETURN(const KernelGraph untuned,
                        LowerToKernels({modules.begin(), modules.end()}, target,
                                       /*configs=*/nullptr, passes::LayoutAim::kSettled));
  std::vector<TuningTask> tasks;
  for (TuningTask& task : TasksOfKernels(untuned)) {
    HONE_ASSIGN_OR_RETURN(
        const std::optional<double> measured_ns,
        configs.MeasuredNs({.def = task.def.get(), .signature = task.signature, .target = target}));
    if (!measured_ns) tasks.push_back(std::move(task));
  }
  return tasks;
}

absl::StatusOr<CompileReport> ChooseKernels(const ir::Module& module, const Target& target,
                                            ConfigChain& configs) {
  HONE_ASSIGN_OR_RETURN(const KernelGraph graph,
                        LowerToKernels({module}, target, &configs, passes::LayoutAim::kSettled));
  HONE_ASSIGN_OR_RETURN(const std::vector<ConfigChain::Scheduled> scheduled,
                        ScheduleKernels(graph, target, configs));
  CompileReport report;
  report.target = target.ToString();
  report.kernels = ReportKernels(graph, scheduled);
  for (size_t k = 0; k < scheduled.size(); ++k) {
    report.kernels[k].nest_digest = schedule::NestDigest(scheduled[k].lowered.nest);
    report.kernels[k].stored = scheduled[k].choice.stored;
  }
  SpecialisationReport& chosen = report.specialisations.emplace_back();
  chosen.skeleton = graph.specialisations[0].skeleton;
  chosen.layouts = graph.specialisations[0].layouts;
  return report;
}

absl::StatusOr<CompileReport> Compile(ir::Module module, const CompileOptions& options,
                                      ConfigChain& configs, const std::string& path) {
  std::vector<ir::Module> modules;
  modules.push_back(std::move(module));
  return Compile(std::move(modules), options, configs, path);
}

absl::StatusOr<CompileReport> Compile(std::vector<ir::Module> modules,
                                      const CompileOptions& options, ConfigChain& configs,
                                      const std::string& path) {
  CompileReport report;
  report.target = options.target.ToString();
  Phases phases(report);

  // From here on the weights are those of `graph` alone.
  HONE_ASSIGN_OR_RETURN(KernelGraph graph, LowerToKernels(std::move(modules), options.target,
                                                          &configs, passes::LayoutAim::kSettled));
  phases.End("passes");

  HONE_ASSIGN_OR_RETURN(const std::vector<ConfigChain::Scheduled> scheduled,
                        ScheduleKernels(graph, options.target, configs));
  report.kernels = ReportKernels(graph, scheduled);
  if (options.require_tuned) HONE_RETURN_IF_ERROR(CheckTuned(report));
  phases.End("schedule");

  std::vector<loop::Nest> nests;
  for (const ConfigChain::Scheduled& kernel : scheduled) nests.push_back(kernel.lowered.nest);
  const ParameterPlan parameters = PlanParameters(graph, nests);
  codegen::ModuleSpec spec = SpecOf(graph, options.target, report, scheduled);
  PlanFunctions(graph, nests, parameters, spec, report);
  phases.End("plan");

  HONE_ASSIGN_OR_RETURN(const std::string shared_object, codegen::BuildModule(spec));
  phases.End("code");

  // The file is there whole (Finish) or not at all.
  HONE_ASSIGN_OR_RETURN(codegen::ModuleWriter writer,
                        codegen::ModuleWriter::Create(path, shared_object, parameters.size_bytes));
  const auto append = [&](uint64_t offset, std::string_view bytes) {
    return writer.Append(offset, bytes);
  };
  HONE_RETURN_IF_ERROR(PrepareParameters(std::move(graph), nests, parameters, append));
  phases.End("prepare");

  HONE_RETURN_IF_ERROR(writer.Finish());
  phases.End("write");
  return report;
}

bool IsTuned(const KernelReport& kernel) { return kernel.tier == "tuned"; }

bool IsNotTuned(const absl::Status& status) { return status.GetPayload(kNotTuned).has_value(); }

}  // namespace hone::driver
