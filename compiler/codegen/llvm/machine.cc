#include "compiler/codegen/llvm/machine.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>

#include "absl/strings/str_join.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace hone::codegen {
namespace {

// Passes of the code generator that only options leave out:
// - Loop strength reduction took 60 % of the time on register-tiled bodies, and what it made of
//   their addresses was longer and no faster: schedules and LaunchEmitter::SteppedPointer have put
//   them into the form they are to have.
// - The second scheduler, after register allocation, took 10 %: cores that run out of order do not
//   notice it.
// - Loads of neighbours brought together ahead of their uses (of AArch64 only) take registers that
//   register tiles do not leave: they spilled.
// - The machine's common subexpressions (EarlyCSE leaves it none within a block): on AArch64 it
//   kept a constant of several blocks in a register, which a register tile between needed itself.
// - The rest finds nothing in kernels, or next to nothing outside of their loops, and took 5 %
//   together: there are no calls, no duplicated tails, no masks that would be better in general
//   registers. On AArch64 some of them still spare hot loops copies and spills.
void LeaveOutPasses(bool is_x86) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const std::pair<const char*, bool> values[] = {{"disable-lsr", true},
                                                 {"disable-post-ra", true},
                                                 {"misched-cluster", false},
                                                 {"disable-constant-hoisting", true},
                                                 {"disable-early-taildup", true},
                                                 {"disable-mergeicmps", true},
                                                 {"disable-partial-libcall-inlining", true},
                                                 {"disable-postra-machine-licm", true},
                                                 {"disable-tail-duplicate", true},
                                                 {"disable-x86-domain-reassignment", true},
                                                 {"x86-cmov-converter", false},
                                                 {"disable-copyprop", is_x86},
                                                 {"disable-machine-cse", true},
                                                 {"disable-postra-machine-sink", is_x86},
                                                 {"disable-ssc", is_x86}};
  for (const auto& [name, value] : values) {
    const auto found = options.find(name);
    if (found != options.end()) static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(value);
  }
}

// AVX-512 units of some Intel parts make LLVM prefer halves of the vectors that schedules chose;
// explicit vectors are left alone unless a function says otherwise, so nothing is set here.
std::unique_ptr<llvm::TargetMachine> MakeMachine(const Target& target, std::string* error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(target.triple, *error);
  if (!llvm_target) return nullptr;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      llvm_target->createMCSubtargetInfo(target.triple, "", ""));
  if (!target.cpu.empty() && !subtarget->isCPUStringValid(target.cpu)) {
    *error = fmt::format("no cpu '{}' of {}", target.cpu, target.triple);
    return nullptr;
  }
  llvm::TargetOptions options;
  options.UniqueSectionNames = false;
  std::unique_ptr<llvm::TargetMachine> machine(llvm_target->createTargetMachine(
      target.triple, target.cpu, absl::StrJoin(target.features, ","), options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine) *error = "no code generator";
  return machine;
}

// As measured (docs/architecture.md, 4): equal to O3 on register-tiled bodies, at a quarter of its
// time. GVN in place of the second EarlyCSE gave the same hot loops, and took as long as all the
// others.
llvm::ModulePassManager MinimalPipeline() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager module_passes;
  module_passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  return module_passes;
}

}  // namespace

absl::StatusOr<llvm::TargetMachine*> MachineFor(const Target& target) {
  thread_local std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  const std::string key =
      fmt::format("{} {} {}", target.triple, target.cpu, absl::StrJoin(target.features, ","));
  std::unique_ptr<llvm::TargetMachine>& machine = machines[key];
  if (!machine) {
    std::string error;
    machine = MakeMachine(target, &error);
    if (!machine) {
      return absl::InvalidArgumentError(
          fmt::format("LLVM cannot compile for target '{}': {}", target.ToString(), error));
    }
  }
  return machine.get();
}

absl::Status Optimise(llvm::Module& module, llvm::TargetMachine& machine,
                      const std::string& pipeline) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  if (pipeline == "min6") {
    passes = MinimalPipeline();
  } else if (pipeline == "O3") {
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  } else {
    return absl::InvalidArgumentError(
        fmt::format("no pipeline '{}'; there are min6 and O3", pipeline));
  }
  passes.run(module, modules);
  return absl::OkStatus();
}

absl::StatusOr<std::string> EmitMachineCode(llvm::Module& module, llvm::TargetMachine& machine,
                                            Output output) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  // Each time: every link in this process resets LLVM's options.
  LeaveOutPasses(machine.getTargetTriple().isX86());
  llvm::legacy::PassManager passes;
  const auto type = output == Output::kObject ? llvm::CodeGenFileType::ObjectFile
                                              : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
    return absl::InternalError("LLVM cannot write code for this target");
  }
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace hone::codegen
