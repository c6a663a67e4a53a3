#include "compiler/codegen/llvm/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
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

// Passes of the code generator that are left out, by LLVM's names for them.
//
// Those that did harm or took long for nothing:
// - Loop strength reduction took 60 % of the time on register-tiled bodies, and what it made of
//   their addresses was longer and no faster: schedules and LaunchEmitter::SteppedPointer have put
//   them into the form they are to have.
// - The second scheduler, after register allocation, took 10 %: cores that run out of order do not
//   notice it.
// - The machine's common subexpressions (EarlyCSE leaves it none within a block): on AArch64 it
//   kept a constant of several blocks in a register, which a register tile between needed itself.
constexpr std::string_view kCostly[] = {"canon-freeze", "loop-reduce", "post-RA-sched",
                                        "machine-cse", "postmisched"};

// Those that find nothing in kernels, or next to nothing outside of their loops: there are no
// calls, no duplicated tails, no masks that would be better in general registers.
constexpr std::string_view kIdle[] = {
    "consthoist",          "early-tailduplication",     "machinelicm",
    "mergeicmps",          "partially-inline-libcalls", "tailduplication",
    "x86-cmov-conversion", "x86-domain-reassignment"};

// The same, of x86 alone: on AArch64 they still spare hot loops copies and spills.
constexpr std::string_view kIdleOnX86[] = {"machine-cp", "postra-machine-sink",
                                           "stack-slot-coloring"};

// Those for what no kernel has: garbage collection, exceptions, debug information, profiles,
// hardening, vector libraries, integers wider than 128 bits.
constexpr std::string_view kForeign[] = {"dwarf-eh-prepare",
                                         "expand-large-div-rem",
                                         "expand-large-fp-convert",
                                         "fentry-insert",
                                         "fixup-statepoint-caller-saved",
                                         "funclet-layout",
                                         "gc-analysis",
                                         "gc-lowering",
                                         "indirectbr-expand",
                                         "kcfi",
                                         "livedebugvalues",
                                         "machine-sanmd",
                                         "patchable-function",
                                         "post-inline-ee-instrument",
                                         "pseudo-probe-inserter",
                                         "regallocscoringpass",
                                         "removeredundantdebugvalues",
                                         "replace-with-veclib",
                                         "safe-stack",
                                         "shadow-stack-gc-lowering",
                                         "stack-frame-layout",
                                         "stackmap-liveness",
                                         "x86-lvi-load",
                                         "x86-lvi-ret",
                                         "x86-return-thunks",
                                         "x86-seses",
                                         "x86-slh",
                                         "xray-instrumentation"};

absl::flat_hash_set<std::string_view> LeftOut(bool is_x86) {
  absl::flat_hash_set<std::string_view> names;
  names.insert(std::begin(kCostly), std::end(kCostly));
  names.insert(std::begin(kIdle), std::end(kIdle));
  names.insert(std::begin(kForeign), std::end(kForeign));
  if (is_x86) names.insert(std::begin(kIdleOnX86), std::end(kIdleOnX86));
  return names;
}

// Takes the passes that a target proposes, and hands those on that are not left out.
class PassFilter : public llvm::legacy::PassManagerBase {
 public:
  PassFilter(llvm::legacy::PassManagerBase& passes, bool is_x86)
      : passes_(passes), left_out_(LeftOut(is_x86)) {}
  void add(llvm::Pass* pass) override {
    const llvm::PassInfo* info =
        llvm::PassRegistry::getPassRegistry()->getPassInfo(pass->getPassID());
    const llvm::StringRef name = info ? info->getPassArgument() : pass->getPassName();
    if (left_out_.contains(std::string_view(name.data(), name.size()))) {
      delete pass;
    } else {
      passes_.add(pass);
    }
  }

 private:
  llvm::legacy::PassManagerBase& passes_;
  const absl::flat_hash_set<std::string_view> left_out_;
};

// Loads of neighbours brought together ahead of their uses (of AArch64 only) take registers that
// register tiles do not leave: they spilled.
void LeaveLoadsApart() {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find("misched-cluster");
  if (found != options.end()) static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(false);
}

// As LLVM takes them. It gives up in the middle of code for AVX-512 on a cpu that has none of its
// own unless it is told, as clang tells it, that vectors of 512 bits are meant.
std::string FeaturesOf(const CpuTarget& target) {
  std::vector<std::string> features = target.features;
  const bool any_avx512 =
      std::any_of(features.begin(), features.end(),
                  [](const std::string& feature) { return feature.starts_with("+avx512"); });
  if (any_avx512) features.emplace_back("+evex512");
  return absl::StrJoin(features, ",");
}

// LLVM 19 knows no architecture after Hopper. The driver compiles code in PTX for all later ones,
// if it keeps to what every architecture of its own has.
std::string CpuOf(const CudaTarget& target) {
  return target.arch.starts_with("sm_1") ? "sm_90" : target.arch;
}

// The first version of PTX that has the architecture, so that the oldest drivers take the code.
std::string PtxVersionOf(std::string_view arch) {
  constexpr std::pair<std::string_view, std::string_view> kVersions[] = {
      {"sm_70", "+ptx60"}, {"sm_72", "+ptx61"}, {"sm_75", "+ptx63"},
      {"sm_80", "+ptx70"}, {"sm_86", "+ptx71"}, {"sm_87", "+ptx74"},
      {"sm_89", "+ptx78"}, {"sm_90", "+ptx78"}, {"sm_90a", "+ptx80"}};
  for (const auto& [name, version] : kVersions) {
    if (name == arch) return std::string(version);
  }
  return "";
}

// AVX-512 units of some Intel parts make LLVM prefer halves of the vectors that schedules chose;
// explicit vectors are left alone unless a function says otherwise, so nothing is set here.
std::unique_ptr<llvm::TargetMachine> MakeMachine(const Processor& processor, std::string* error) {
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
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(processor.triple, *error);
  if (!llvm_target) return nullptr;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      llvm_target->createMCSubtargetInfo(processor.triple, "", ""));
  if (!processor.cpu.empty() && !subtarget->isCPUStringValid(processor.cpu)) {
    *error = fmt::format("no cpu '{}' of {}", processor.cpu, processor.triple);
    return nullptr;
  }
  llvm::TargetOptions options;
  options.UniqueSectionNames = false;
  std::unique_ptr<llvm::TargetMachine> machine(llvm_target->createTargetMachine(
      processor.triple, processor.cpu, processor.features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default));
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

// From one module to a file, with passes that serve for the next one too.
struct CodeGenerator::Emission {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream{bytes};
  llvm::legacy::PassManager passes;
};

CodeGenerator::CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine)
    : machine_(std::move(machine)) {}

CodeGenerator::~CodeGenerator() = default;

absl::StatusOr<CodeGenerator*> CodeGenerator::For(const CpuTarget& target) {
  return For(
      Processor{target.triple, target.cpu, FeaturesOf(target), /*target=*/target.ToString()});
}

absl::StatusOr<CodeGenerator*> CodeGenerator::For(const CudaTarget& target) {
  const std::string cpu = CpuOf(target);
  return For(
      Processor{"nvptx64-nvidia-cuda", cpu, PtxVersionOf(cpu), /*target=*/target.ToString()});
}

absl::StatusOr<CodeGenerator*> CodeGenerator::For(const Processor& processor) {
  thread_local std::map<std::string, std::unique_ptr<CodeGenerator>> generators;
  const std::string key =
      fmt::format("{} {} {}", processor.triple, processor.cpu, processor.features);
  std::unique_ptr<CodeGenerator>& generator = generators[key];
  if (!generator) {
    std::string error;
    std::unique_ptr<llvm::TargetMachine> machine = MakeMachine(processor, &error);
    if (!machine) {
      return absl::InvalidArgumentError(
          fmt::format("LLVM cannot compile for target '{}': {}", processor.target, error));
    }
    generator.reset(new CodeGenerator(std::move(machine)));
  }
  return generator.get();
}

absl::Status CodeGenerator::Optimise(llvm::Module& module, const std::string& pipeline) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(machine_.get(), tuning);
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

// What is left out for CPUs, whose kernels come in the form that those passes look for, is not left
// out for GPUs.
bool CodeGenerator::AddPasses(Emission& emission, llvm::CodeGenFileType type) {
  const llvm::Triple& triple = machine_->getTargetTriple();
  if (triple.isNVPTX()) {
    return !machine_->addPassesToEmitFile(emission.passes, emission.stream, nullptr, type);
  }
  PassFilter filter(emission.passes, triple.isX86());
  return !machine_->addPassesToEmitFile(filter, emission.stream, nullptr, type);
}

absl::StatusOr<std::string> CodeGenerator::EmitMachineCode(llvm::Module& module, Output output) {
  const bool is_object = output == Output::kObject;
  std::unique_ptr<Emission>& emission = is_object ? objects_ : assembly_;
  if (!emission) {
    auto made = std::make_unique<Emission>();
    if (!AddPasses(*made, is_object ? llvm::CodeGenFileType::ObjectFile
                                    : llvm::CodeGenFileType::AssemblyFile)) {
      return absl::InternalError("LLVM cannot write code for this target");
    }
    emission = std::move(made);
  }
  // Each time: every link in this process resets LLVM's options.
  LeaveLoadsApart();
  emission->bytes.clear();
  emission->passes.run(module);
  std::string text(emission->bytes.begin(), emission->bytes.end());
  // The printer of PTX remembers the globals of the modules that it has written.
  if (machine_->getTargetTriple().isNVPTX()) emission.reset();
  return text;
}

}  // namespace hone::codegen
