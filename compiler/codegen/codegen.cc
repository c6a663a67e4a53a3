#include "compiler/codegen/codegen.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "compiler/codegen/launch_facts.h"
#include "compiler/codegen/link.h"
#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/tables.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "support/clock.h"
#include "support/status.h"

namespace hone::codegen {
namespace {

struct EmittedModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// "conv2d.relu", of letters that assemblers and profilers like.
std::string SymbolName(const std::string& kernel, const std::string& launch) {
  std::string name = kernel + "." + launch;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '_';
  }
  return name;
}

absl::Status CheckPhases(const KernelSpec& kernel) {
  if (kernel.nest.launches.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("kernel {}: a nest needs at least one launch", kernel.name));
  }
  for (const loop::Launch& launch : kernel.nest.launches) {
    if (!launch.body) {
      return absl::InvalidArgumentError(
          fmt::format("kernel {}: launch {} has no body", kernel.name, launch.name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LaunchEntry>> EmitKernel(llvm::Module& module,
                                                    const KernelSpec& kernel,
                                                    const Target& target) {
  HONE_RETURN_IF_ERROR(CheckPhases(kernel));
  std::vector<loop::Launch> launches = kernel.nest.launches;
  std::stable_partition(launches.begin(), launches.end(), [](const loop::Launch& launch) {
    return launch.phase == loop::Phase::kPrepare;
  });
  const std::vector<LaunchFacts> facts = FactsOf(launches, target);
  std::vector<LaunchEntry> entries;
  for (size_t i = 0; i < launches.size(); ++i) {
    LaunchEmitter emitter(module, kernel.nest, CpuTraits::Of(target));
    HONE_ASSIGN_OR_RETURN(
        LaunchCode code, emitter.Emit(launches[i], SymbolName(kernel.name, launches[i].name)));
    entries.push_back({launches[i].name, launches[i].phase, code, facts[i]});
  }
  return entries;
}

absl::Status Verify(const llvm::Module& module) {
  std::string words;
  llvm::raw_string_ostream stream(words);
  if (!llvm::verifyModule(module, &stream)) return absl::OkStatus();
  return absl::InternalError(fmt::format("code generation made broken IR: {}", stream.str()));
}

// A module has one pipeline: that of its first kernel that asks for more than the least.
std::string PipelineOf(const ModuleSpec& spec) {
  for (const KernelSpec& kernel : spec.kernels) {
    if (kernel.pipeline != "min6") return kernel.pipeline;
  }
  return "min6";
}

int64_t Now() { return Clock::Real().NowNs(); }

// IR of the whole module, optimised.
absl::StatusOr<EmittedModule> EmitOptimised(const ModuleSpec& spec, llvm::TargetMachine& machine,
                                            BuildTimes& times) {
  const int64_t start = Now();
  EmittedModule emitted;
  emitted.context = std::make_unique<llvm::LLVMContext>();
  emitted.module = std::make_unique<llvm::Module>("hone", *emitted.context);
  llvm::Module& module = *emitted.module;
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  std::vector<std::vector<LaunchEntry>> launches;
  for (const KernelSpec& kernel : spec.kernels) {
    HONE_ASSIGN_OR_RETURN(std::vector<LaunchEntry> entries,
                          EmitKernel(module, kernel, spec.target));
    launches.push_back(std::move(entries));
  }
  EmitTables(module, spec, launches, fmt::format("hone 0.1.0 {}", ToolchainText()));
  HONE_RETURN_IF_ERROR(Verify(module));
  const int64_t middle = Now();
  HONE_RETURN_IF_ERROR(Optimise(module, machine, PipelineOf(spec)));
  times.emit_ns += middle - start;
  times.optimise_ns += Now() - middle;
  return emitted;
}

}  // namespace

absl::StatusOr<std::string> BuildModule(const ModuleSpec& spec, BuildTimes* times) {
  BuildTimes spent;
  HONE_ASSIGN_OR_RETURN(llvm::TargetMachine * machine, MachineFor(spec.target));
  HONE_ASSIGN_OR_RETURN(const EmittedModule emitted, EmitOptimised(spec, *machine, spent));
  const int64_t start = Now();
  HONE_ASSIGN_OR_RETURN(const std::string object,
                        EmitMachineCode(*emitted.module, *machine, Output::kObject));
  const int64_t middle = Now();
  HONE_ASSIGN_OR_RETURN(std::string shared_object, LinkSharedObject(object));
  spent.machine_code_ns = middle - start;
  spent.link_ns = Now() - middle;
  if (times) *times = spent;
  return shared_object;
}

absl::StatusOr<std::string> EmitLlvmIr(const ModuleSpec& spec) {
  BuildTimes spent;
  HONE_ASSIGN_OR_RETURN(llvm::TargetMachine * machine, MachineFor(spec.target));
  HONE_ASSIGN_OR_RETURN(const EmittedModule emitted, EmitOptimised(spec, *machine, spent));
  std::string text;
  llvm::raw_string_ostream stream(text);
  emitted.module->print(stream, nullptr);
  return stream.str();
}

absl::StatusOr<std::string> EmitAssembly(const ModuleSpec& spec) {
  BuildTimes spent;
  HONE_ASSIGN_OR_RETURN(llvm::TargetMachine * machine, MachineFor(spec.target));
  HONE_ASSIGN_OR_RETURN(const EmittedModule emitted, EmitOptimised(spec, *machine, spent));
  return EmitMachineCode(*emitted.module, *machine, Output::kAssembly);
}

std::string ToolchainText() { return "LLVM " LLVM_VERSION_STRING; }

}  // namespace hone::codegen
