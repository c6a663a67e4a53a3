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

// Kernels of one pipeline, optimised together. The last unit of a module has its tables.
struct Unit {
  std::string pipeline;
  std::vector<size_t> kernels;
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

absl::Status CheckLaunches(const KernelSpec& kernel) {
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

// `shared`: the tables are in another unit.
absl::StatusOr<std::vector<LaunchEntry>> EmitKernel(llvm::Module& module, const ModuleSpec& spec,
                                                    size_t index, bool shared) {
  const KernelSpec& kernel = spec.kernels[index];
  HONE_RETURN_IF_ERROR(CheckLaunches(kernel));
  std::vector<loop::Launch> launches = kernel.nest.launches;
  std::stable_partition(launches.begin(), launches.end(), [](const loop::Launch& launch) {
    return launch.phase == loop::Phase::kPrepare;
  });
  const std::string suffix = spec.kernels.size() > 1 ? fmt::format(".{}", index) : "";
  const std::vector<LaunchFacts> facts = FactsOf(launches, spec.target);
  std::vector<LaunchEntry> entries;
  for (size_t i = 0; i < launches.size(); ++i) {
    LaunchEmitter emitter(module, kernel.nest, CpuTraits::Of(spec.target));
    const std::string name = SymbolName(kernel.name, launches[i].name) + suffix;
    HONE_ASSIGN_OR_RETURN(const LaunchCode code, emitter.Emit(launches[i], name));
    if (shared) {
      code.function->setLinkage(llvm::GlobalValue::ExternalLinkage);
      code.function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
    entries.push_back({launches[i].name, launches[i].phase, code.function->getName().str(),
                       code.grid_extent, code.scratch_bytes, facts[i]});
  }
  return entries;
}

absl::Status Verify(const llvm::Module& module) {
  std::string words;
  llvm::raw_string_ostream stream(words);
  if (!llvm::verifyModule(module, &stream)) return absl::OkStatus();
  return absl::InternalError(fmt::format("code generation made broken IR: {}", stream.str()));
}

std::vector<Unit> UnitsOf(const ModuleSpec& spec) {
  std::vector<Unit> units;
  for (size_t i = 0; i < spec.kernels.size(); ++i) {
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& known) {
      return known.pipeline == spec.kernels[i].pipeline;
    });
    if (unit != units.end()) {
      unit->kernels.push_back(i);
      continue;
    }
    units.emplace_back();
    units.back().pipeline = spec.kernels[i].pipeline;
    units.back().kernels = {i};
  }
  if (units.empty()) units.emplace_back().pipeline = "min6";
  return units;
}

int64_t Now() { return Clock::Real().NowNs(); }

void MakeModule(Unit& unit, const llvm::TargetMachine& machine) {
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = std::make_unique<llvm::Module>("hone", *unit.context);
  unit.module->setTargetTriple(machine.getTargetTriple().str());
  unit.module->setDataLayout(machine.createDataLayout());
  unit.module->setPICLevel(llvm::PICLevel::BigPIC);
}

// IR of the whole module, optimised.
absl::StatusOr<std::vector<Unit>> EmitOptimised(const ModuleSpec& spec,
                                                llvm::TargetMachine& machine, BuildTimes& times) {
  std::vector<Unit> units = UnitsOf(spec);
  std::vector<std::vector<LaunchEntry>> launches(spec.kernels.size());
  for (Unit& unit : units) {
    const int64_t start = Now();
    const bool is_last = &unit == &units.back();
    MakeModule(unit, machine);
    for (const size_t kernel : unit.kernels) {
      HONE_ASSIGN_OR_RETURN(launches[kernel], EmitKernel(*unit.module, spec, kernel, !is_last));
    }
    if (is_last) EmitTables(*unit.module, spec, launches, "hone 0.1.0 " + ToolchainText());
    HONE_RETURN_IF_ERROR(Verify(*unit.module));
    const int64_t middle = Now();
    HONE_RETURN_IF_ERROR(Optimise(*unit.module, machine, unit.pipeline));
    times.emit_ns += middle - start;
    times.optimise_ns += Now() - middle;
  }
  return units;
}

}  // namespace

absl::StatusOr<std::string> BuildModule(const ModuleSpec& spec, BuildTimes* times) {
  BuildTimes spent;
  HONE_ASSIGN_OR_RETURN(llvm::TargetMachine * machine, MachineFor(spec.target));
  HONE_ASSIGN_OR_RETURN(const std::vector<Unit> units, EmitOptimised(spec, *machine, spent));
  const int64_t start = Now();
  std::vector<std::string> objects;
  for (const Unit& unit : units) {
    HONE_ASSIGN_OR_RETURN(std::string object,
                          EmitMachineCode(*unit.module, *machine, Output::kObject));
    objects.push_back(std::move(object));
  }
  const int64_t middle = Now();
  HONE_ASSIGN_OR_RETURN(std::string shared_object, LinkSharedObject(objects));
  spent.machine_code_ns = middle - start;
  spent.link_ns = Now() - middle;
  if (times) *times = spent;
  return shared_object;
}

absl::StatusOr<std::string> EmitLlvmIr(const ModuleSpec& spec) {
  BuildTimes spent;
  HONE_ASSIGN_OR_RETURN(llvm::TargetMachine * machine, MachineFor(spec.target));
  HONE_ASSIGN_OR_RETURN(const std::vector<Unit> units, EmitOptimised(spec, *machine, spent));
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Unit& unit : units) unit.module->print(stream, nullptr);
  return stream.str();
}

absl::StatusOr<std::string> EmitAssembly(const ModuleSpec& spec) {
  BuildTimes spent;
  HONE_ASSIGN_OR_RETURN(llvm::TargetMachine * machine, MachineFor(spec.target));
  HONE_ASSIGN_OR_RETURN(const std::vector<Unit> units, EmitOptimised(spec, *machine, spent));
  std::string text;
  for (const Unit& unit : units) {
    HONE_ASSIGN_OR_RETURN(const std::string assembly,
                          EmitMachineCode(*unit.module, *machine, Output::kAssembly));
    text += assembly;
  }
  return text;
}

std::string ToolchainText() { return "LLVM " LLVM_VERSION_STRING; }

}  // namespace hone::codegen
