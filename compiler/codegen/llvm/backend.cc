#include "compiler/codegen/backend.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "compiler/codegen/link.h"
#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/codegen/llvm/llvm_module.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/rounding.h"
#include "compiler/codegen/llvm/tables.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"
#include "support/clock.h"
#include "support/status.h"
#include "support/version.h"

namespace hone::codegen {
namespace {

// A launch of a kernel, by their indices.
struct Piece {
  size_t kernel = 0;
  size_t launch = 0;
};

// What becomes one object: launches of one pipeline, optimised together. The last unit of a module
// has its tables.
struct Unit {
  std::string pipeline;
  std::vector<Piece> pieces;
  std::string cache_key;  // empty: not to be cached
  std::string object;     // once it is compiled
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// The number goes up with every change of passes or of what is emitted that changes kernels' times.
std::string LlvmToolchain() { return "LLVM " LLVM_VERSION_STRING " code 5"; }

// All that the code of a launch depends on.
std::string CacheKey(const KernelSpec& kernel, const lower::LoweredLaunch& launch,
                     const std::string& symbol, const CpuTarget& target) {
  loop::Nest buffers = kernel.nest;
  buffers.launches.clear();
  return fmt::format("{}\n{}\n{}\n{}{}", target.ToString(), kernel.pipeline, symbol,
                     loop::ToText(buffers), lower::ToText(launch));
}

Unit& UnitFor(std::vector<Unit>& units, const std::string& pipeline) {
  for (Unit& unit : units) {
    if (unit.pipeline == pipeline) return unit;
  }
  units.emplace_back();
  units.back().pipeline = pipeline;
  return units.back();
}

std::vector<Unit> UnitsOf(const LoweredModule& module, bool cached) {
  const ModuleSpec& spec = *module.spec;
  const auto& launches = module.launches;
  std::vector<Unit> alone;
  std::vector<Unit> units;
  for (size_t kernel = 0; kernel < launches.size(); ++kernel) {
    const std::string& pipeline = spec.kernels[kernel].pipeline;
    for (size_t launch = 0; launch < launches[kernel].size(); ++launch) {
      const bool last = launch + 1 == launches[kernel].size();
      if (!cached || last) {
        UnitFor(units, pipeline).pieces.push_back({kernel, launch});
        continue;
      }
      alone.emplace_back();
      alone.back().pipeline = pipeline;
      alone.back().pieces = {{kernel, launch}};
      alone.back().cache_key = CacheKey(spec.kernels[kernel], launches[kernel][launch],
                                        module.symbols[kernel][launch], *spec.target.AsCpu());
    }
  }
  if (units.empty()) UnitFor(units, "min6");
  alone.insert(alone.end(), std::make_move_iterator(units.begin()),
               std::make_move_iterator(units.end()));
  return alone;
}

int64_t Now() { return Clock::Real().NowNs(); }

// From a lowered module to IR, and on to objects.
class ModuleBuild {
 public:
  ModuleBuild(const LoweredModule& module, LaunchCache* cache)
      : module_(module), spec_(*module.spec), target_(*spec_.target.AsCpu()), cache_(cache) {}

  absl::Status Start() {
    HONE_ASSIGN_OR_RETURN(generator_, CodeGenerator::For(target_));
    units_ = UnitsOf(module_, cache_ != nullptr);
    for (size_t kernel = 0; kernel < module_.launches.size(); ++kernel) {
      entries_.emplace_back();
      for (size_t i = 0; i < module_.launches[kernel].size(); ++i) {
        entries_.back().push_back(
            {&module_.launches[kernel][i], module_.symbols[kernel][i], /*scratch_bytes=*/0});
      }
    }
    return absl::OkStatus();
  }

  // IR of the units that are in no cache, optimised.
  absl::Status Emit() {
    for (Unit& unit : units_) {
      const int64_t start = Now();
      if (TakeFromCache(unit)) continue;
      unit.context = std::make_unique<llvm::LLVMContext>();
      unit.module = NewModule(*unit.context, generator_->machine());
      unit.module->setPICLevel(llvm::PICLevel::BigPIC);
      const bool is_last = &unit == &units_.back();
      for (const Piece& piece : unit.pieces) {
        HONE_RETURN_IF_ERROR(EmitLaunch(*unit.module, piece, !is_last));
      }
      if (is_last)
        EmitTables(*unit.module, spec_, entries_,
                   fmt::format("hone {} {}", Version(), LlvmToolchain()));
      if (!TargetTraits::Of(target_).roundings) ExpandRoundings(*unit.module);
      // Broken IR is a bug of ours. Candidates come by the thousand, and it takes a sixth of their
      // time from config to IR: what is deployed and what tests build goes without a cache.
      if (cache_ == nullptr) HONE_RETURN_IF_ERROR(Verify(*unit.module));
      const int64_t middle = Now();
      HONE_RETURN_IF_ERROR(generator_->Optimise(*unit.module, unit.pipeline));
      times_.emit_ns += middle - start;
      times_.optimise_ns += Now() - middle;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Link() {
    const int64_t start = Now();
    std::vector<std::string> objects;  // in the units' order, whichever were in the cache
    for (Unit& unit : units_) {
      if (unit.module) {
        HONE_ASSIGN_OR_RETURN(unit.object,
                              generator_->EmitMachineCode(*unit.module, Output::kObject));
        if (!unit.cache_key.empty()) Keep(unit);
      }
      objects.push_back(std::move(unit.object));
    }
    const int64_t middle = Now();
    HONE_ASSIGN_OR_RETURN(std::string shared_object, LinkSharedObject(objects));
    times_.machine_code_ns = middle - start;
    times_.link_ns = Now() - middle;
    return shared_object;
  }

  const std::vector<Unit>& units() const { return units_; }
  CodeGenerator& generator() { return *generator_; }
  const BuildTimes& times() const { return times_; }

 private:
  // `shared`: the tables are in another unit.
  absl::Status EmitLaunch(llvm::Module& module, const Piece& piece, bool shared) {
    LaunchEntry& entry = entries_[piece.kernel][piece.launch];
    LaunchEmitter emitter(module, spec_.kernels[piece.kernel].nest, TargetTraits::Of(target_));
    HONE_ASSIGN_OR_RETURN(const LaunchCode code, emitter.Emit(*entry.launch, entry.symbol));
    if (shared) {
      code.function->setLinkage(llvm::GlobalValue::ExternalLinkage);
      code.function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
    entry.symbol = code.function->getName().str();
    entry.scratch_bytes = code.scratch_bytes;
    return absl::OkStatus();
  }

  LaunchEntry& EntryOf(const Unit& unit) {
    return entries_[unit.pieces[0].kernel][unit.pieces[0].launch];
  }

  bool TakeFromCache(Unit& unit) {
    const LaunchCache::Entry* known =
        unit.cache_key.empty() ? nullptr : cache_->Find(unit.cache_key);
    if (known == nullptr) return false;
    EntryOf(unit).scratch_bytes = known->scratch_bytes;
    unit.object = known->object;
    return true;
  }

  void Keep(const Unit& unit) {
    cache_->Add(unit.cache_key, {unit.object, EntryOf(unit).scratch_bytes});
  }

  const LoweredModule& module_;
  const ModuleSpec& spec_;
  const CpuTarget& target_;
  LaunchCache* cache_;
  CodeGenerator* generator_ = nullptr;
  std::vector<Unit> units_;
  std::vector<std::vector<LaunchEntry>> entries_;
  BuildTimes times_;
};

absl::StatusOr<std::string> TextOf(ModuleBuild& build, CodeForm form) {
  std::string text;
  for (const Unit& unit : build.units()) {
    if (form == CodeForm::kIr) {
      llvm::raw_string_ostream stream(text);
      unit.module->print(stream, nullptr);
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const std::string assembly,
                          build.generator().EmitMachineCode(*unit.module, Output::kAssembly));
    text += assembly;
  }
  return text;
}

// LLVM's code for CPUs.
class CpuBackend final : public Backend {
 public:
  absl::StatusOr<std::string> Emit(const LoweredModule& module, CodeForm form, LaunchCache* cache,
                                   BuildTimes* times) const override {
    const std::lock_guard lock(LlvmMutex());
    ModuleBuild build(module, cache);
    HONE_RETURN_IF_ERROR(build.Start());
    HONE_RETURN_IF_ERROR(build.Emit());
    if (form != CodeForm::kModule) return TextOf(build, form);
    HONE_ASSIGN_OR_RETURN(std::string shared_object, build.Link());
    if (times != nullptr) *times = build.times();
    return shared_object;
  }
  std::string Toolchain() const override { return LlvmToolchain(); }
};

}  // namespace

const Backend& LlvmBackend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace hone::codegen
