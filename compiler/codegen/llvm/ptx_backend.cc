// LLVM's code for GPUs of NVIDIA: PTX, which the driver compiles for the card at hand.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "compiler/codegen/backend.h"
#include "compiler/codegen/device_code.h"
#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/codegen/llvm/llvm_module.h"
#include "compiler/codegen/llvm/machine.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/module_abi.h"
#include "support/clock.h"
#include "support/status.h"

namespace hone::codegen {
namespace {

// What every architecture allows in a block.
constexpr int64_t kMostThreads = 1024;

// The number goes up with every change of passes or of what is emitted that changes kernels' times.
std::string PtxToolchain() { return "LLVM " LLVM_VERSION_STRING " PTX code 4"; }

// Kernels of one pipeline, which the driver compiles as one piece of code.
struct Unit {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::string pipeline;
};

// Names of PTX are letters, digits and '_'; no two of a module are alike.
class EntryNames {
 public:
  std::string Fresh(std::string name) {
    for (char& c : name) {
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    name = "hone_" + name;
    std::string fresh = name;
    for (int again = 2; !taken_.insert(fresh).second; ++again) {
      fresh = fmt::format("{}_{}", name, again);
    }
    return fresh;
  }

 private:
  absl::flat_hash_set<std::string> taken_;
};

// Tells the driver's compiler that the function is a kernel, and how many threads its blocks have,
// which bounds its registers.
void Annotate(llvm::Function& kernel, uint32_t threads) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::NamedMDNode* const annotations =
      kernel.getParent()->getOrInsertNamedMetadata("nvvm.annotations");
  const auto add = [&](const char* name, uint32_t value) {
    llvm::Constant* const number = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
    const std::array<llvm::Metadata*, 3> operands = {llvm::ConstantAsMetadata::get(&kernel),
                                                     llvm::MDString::get(context, name),
                                                     llvm::ConstantAsMetadata::get(number)};
    annotations->addOperand(llvm::MDNode::get(context, operands));
  };
  add("kernel", 1);
  add("maxntidx", threads);
}

// From a lowered module to IR, and on to PTX.
class PtxBuild {
 public:
  explicit PtxBuild(const LoweredModule& module)
      : module_(module), target_(std::get<CudaTarget>(module.spec->target.kind)) {}

  // IR, optimised.
  absl::Status Emit() {
    HONE_ASSIGN_OR_RETURN(generator_, CodeGenerator::For(target_));
    for (size_t kernel = 0; kernel < module_.launches.size(); ++kernel) {
      launches_.emplace_back();
      for (size_t launch = 0; launch < module_.launches[kernel].size(); ++launch) {
        HONE_RETURN_IF_ERROR(EmitLaunch(kernel, launch));
      }
    }
    for (Unit& unit : units_) {
      HONE_RETURN_IF_ERROR(Verify(*unit.module));
      HONE_RETURN_IF_ERROR(generator_->Optimise(*unit.module, unit.pipeline));
    }
    return absl::OkStatus();
  }

  std::string Ir() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (const Unit& unit : units_) unit.module->print(stream, nullptr);
    return text;
  }

  // The text of each unit.
  absl::StatusOr<std::vector<std::string>> Ptx() {
    std::vector<std::string> texts;
    for (Unit& unit : units_) {
      HONE_ASSIGN_OR_RETURN(std::string text,
                            generator_->EmitMachineCode(*unit.module, Output::kAssembly));
      texts.push_back(std::move(text));
    }
    return texts;
  }

  std::vector<std::vector<DeviceLaunch>> TakeLaunches() { return std::move(launches_); }

 private:
  int UnitFor(const std::string& pipeline) {
    for (size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].pipeline == pipeline) return static_cast<int>(i);
    }
    Unit unit;
    unit.pipeline = pipeline;
    unit.context = std::make_unique<llvm::LLVMContext>();
    unit.module = NewModule(*unit.context, generator_->machine());
    units_.push_back(std::move(unit));
    return static_cast<int>(units_.size()) - 1;
  }

  absl::Status EmitLaunch(size_t kernel, size_t index) {
    const KernelSpec& spec = module_.spec->kernels[kernel];
    const lower::LoweredLaunch& launch = module_.launches[kernel][index];
    const int unit = UnitFor(spec.pipeline);
    const std::string entry = names_.Fresh(module_.symbols[kernel][index]);
    const int64_t block_threads = launch.thread ? launch.thread->extent : 0;
    const int64_t threads = launch.GridIndices() * std::max<int64_t>(block_threads, 1);
    HONE_ASSIGN_OR_RETURN(const LinearGrid grid,
                          LinearGridFor(threads, block_threads, kMostThreads, entry));
    HONE_RETURN_IF_ERROR(CheckThreadMemory(launch.body, entry));
    LaunchEmitter emitter(*units_[static_cast<size_t>(unit)].module, spec.nest,
                          TargetTraits::Of(target_));
    HONE_ASSIGN_OR_RETURN(KernelCode code, emitter.EmitKernel(launch, entry, grid.threads));
    Annotate(*code.function, grid.threads);
    const bool flushes = spec.flush_subnormals && launch.phase == loop::Phase::kRun;
    if (flushes) {
      code.function->addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
    }
    launches_.back().push_back({.entry = entry,
                                .code = unit,
                                .blocks = {grid.blocks, 1, 1},
                                .threads = {grid.threads, 1, 1},
                                .shared_bytes = code.shared_bytes,
                                .arguments = std::move(code.arguments)});
    return absl::OkStatus();
  }

  const LoweredModule& module_;
  const CudaTarget& target_;
  CodeGenerator* generator_ = nullptr;
  EntryNames names_;
  std::vector<Unit> units_;
  std::vector<std::vector<DeviceLaunch>> launches_;
};

absl::StatusOr<std::string> TextOf(PtxBuild& build, CodeForm form) {
  if (form == CodeForm::kIr) return build.Ir();
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> texts, build.Ptx());
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

int64_t Now() { return Clock::Real().NowNs(); }

class NvptxBackend final : public Backend {
 public:
  absl::StatusOr<std::string> Emit(const LoweredModule& module, CodeForm form,
                                   LaunchCache* /*cache*/, BuildTimes* times) const override {
    const int64_t start = Now();
    std::unique_lock lock(LlvmMutex());
    PtxBuild build(module);
    HONE_RETURN_IF_ERROR(build.Emit());
    if (form != CodeForm::kModule) return TextOf(build, form);
    const int64_t middle = Now();
    HONE_ASSIGN_OR_RETURN(std::vector<std::string> texts, build.Ptx());
    lock.unlock();
    DeviceModule device;
    for (std::string& text : texts) {
      device.codes.push_back({.kind = HONE_CODE_PTX, .bytes = std::move(text), .options = ""});
    }
    device.launches = build.TakeLaunches();
    const int64_t end = Now();
    HONE_ASSIGN_OR_RETURN(std::string shared_object,
                          BuildDeviceModule(module, device, PtxToolchain(), times));
    if (times != nullptr) {
      times->optimise_ns = middle - start;
      times->machine_code_ns = end - middle;
    }
    return shared_object;
  }
  std::string Toolchain() const override { return PtxToolchain(); }
};

}  // namespace

const Backend& PtxBackend() {
  static const NvptxBackend backend;
  return backend;
}

}  // namespace hone::codegen
