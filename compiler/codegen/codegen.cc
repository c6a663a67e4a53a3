#include "compiler/codegen/codegen.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_set.h"
#include "compiler/codegen/launch_facts.h"
#include "compiler/codegen/link.h"
#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/rounding.h"
#include "compiler/codegen/llvm/tables.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
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

// The launches of each kernel, prepare launches first.
absl::StatusOr<std::vector<std::vector<loop::Launch>>> OrderedLaunches(const ModuleSpec& spec) {
  std::vector<std::vector<loop::Launch>> ordered;
  for (const KernelSpec& kernel : spec.kernels) {
    HONE_RETURN_IF_ERROR(CheckLaunches(kernel));
    ordered.push_back(kernel.nest.launches);
    std::stable_partition(
        ordered.back().begin(), ordered.back().end(),
        [](const loop::Launch& launch) { return launch.phase == loop::Phase::kPrepare; });
  }
  return ordered;
}

absl::Status Verify(const llvm::Module& module) {
  std::string words;
  llvm::raw_string_ostream stream(words);
  if (!llvm::verifyModule(module, &stream)) return absl::OkStatus();
  return absl::InternalError(fmt::format("code generation made broken IR: {}", stream.str()));
}

// A symbol for each launch, no two alike: launches of one kernel may share a name.
std::vector<std::vector<std::string>> SymbolsOf(
    const ModuleSpec& spec, const std::vector<std::vector<loop::Launch>>& launches) {
  std::vector<std::vector<std::string>> symbols(launches.size());
  absl::flat_hash_set<std::string> taken;
  for (size_t kernel = 0; kernel < launches.size(); ++kernel) {
    const std::string suffix = launches.size() > 1 ? fmt::format(".{}", kernel) : "";
    for (const loop::Launch& launch : launches[kernel]) {
      const std::string plain = SymbolName(spec.kernels[kernel].name, launch.name) + suffix;
      std::string symbol = plain;
      for (int again = 2; !taken.insert(symbol).second; ++again) {
        symbol = fmt::format("{}.again{}", plain, again);
      }
      symbols[kernel].push_back(std::move(symbol));
    }
  }
  return symbols;
}

// All that the code of a launch depends on.
std::string CacheKey(const KernelSpec& kernel, const loop::Launch& launch,
                     const std::string& symbol, const CpuTarget& target) {
  loop::Nest alone = kernel.nest;
  alone.launches = {launch};
  return fmt::format("{}\n{}\n{}\n{}", target.ToString(), kernel.pipeline, symbol,
                     loop::ToText(alone));
}

Unit& UnitFor(std::vector<Unit>& units, const std::string& pipeline) {
  for (Unit& unit : units) {
    if (unit.pipeline == pipeline) return unit;
  }
  units.emplace_back();
  units.back().pipeline = pipeline;
  return units.back();
}

std::vector<Unit> UnitsOf(const ModuleSpec& spec,
                          const std::vector<std::vector<loop::Launch>>& launches,
                          const std::vector<std::vector<std::string>>& symbols, bool cached) {
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
                                        symbols[kernel][launch], spec.target);
    }
  }
  if (units.empty()) UnitFor(units, "min6");
  alone.insert(alone.end(), std::make_move_iterator(units.begin()),
               std::make_move_iterator(units.end()));
  return alone;
}

int64_t Now() { return Clock::Real().NowNs(); }

void MakeModule(Unit& unit, const llvm::TargetMachine& machine) {
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = std::make_unique<llvm::Module>("hone", *unit.context);
  unit.module->setTargetTriple(machine.getTargetTriple().str());
  unit.module->setDataLayout(machine.createDataLayout());
  unit.module->setPICLevel(llvm::PICLevel::BigPIC);
}

// From a module's spec to IR, and on to objects.
class ModuleBuild {
 public:
  ModuleBuild(const ModuleSpec& spec, LaunchCache* cache) : spec_(spec), cache_(cache) {}

  absl::Status Start() {
    HONE_ASSIGN_OR_RETURN(generator_, CodeGenerator::For(spec_.target));
    HONE_ASSIGN_OR_RETURN(launches_, OrderedLaunches(spec_));
    const std::vector<std::vector<std::string>> symbols = SymbolsOf(spec_, launches_);
    units_ = UnitsOf(spec_, launches_, symbols, cache_ != nullptr);
    for (size_t kernel = 0; kernel < launches_.size(); ++kernel) {
      entries_.emplace_back();
      const std::vector<LaunchFacts> facts = FactsOf(launches_[kernel], spec_.target);
      for (size_t i = 0; i < launches_[kernel].size(); ++i) {
        const loop::Launch& launch = launches_[kernel][i];
        entries_.back().push_back(
            {launch.name, launch.phase, symbols[kernel][i], 1, 0, false, facts[i]});
      }
    }
    return absl::OkStatus();
  }

  // IR of the units that are in no cache, optimised.
  absl::Status Emit() {
    for (Unit& unit : units_) {
      const int64_t start = Now();
      if (TakeFromCache(unit)) continue;
      MakeModule(unit, generator_->machine());
      const bool is_last = &unit == &units_.back();
      for (const Piece& piece : unit.pieces) {
        HONE_RETURN_IF_ERROR(EmitLaunch(*unit.module, piece, !is_last));
      }
      if (is_last)
        EmitTables(*unit.module, spec_, entries_,
                   fmt::format("hone {} {}", Version(), ToolchainText()));
      if (!CpuTraits::Of(spec_.target).roundings) ExpandRoundings(*unit.module);
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
    LaunchEmitter emitter(module, spec_.kernels[piece.kernel].nest, CpuTraits::Of(spec_.target));
    HONE_ASSIGN_OR_RETURN(const LaunchCode code,
                          emitter.Emit(launches_[piece.kernel][piece.launch], entry.symbol));
    if (shared) {
      code.function->setLinkage(llvm::GlobalValue::ExternalLinkage);
      code.function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
    entry.symbol = code.function->getName().str();
    entry.grid_extent = code.grid_extent;
    entry.scratch_bytes = code.scratch_bytes;
    entry.uses_tiles = code.uses_tiles;
    return absl::OkStatus();
  }

  LaunchEntry& EntryOf(const Unit& unit) {
    return entries_[unit.pieces[0].kernel][unit.pieces[0].launch];
  }

  bool TakeFromCache(Unit& unit) {
    const LaunchCache::Entry* known =
        unit.cache_key.empty() ? nullptr : cache_->Find(unit.cache_key);
    if (known == nullptr) return false;
    EntryOf(unit).grid_extent = known->grid_extent;
    EntryOf(unit).scratch_bytes = known->scratch_bytes;
    EntryOf(unit).uses_tiles = known->uses_tiles;
    unit.object = known->object;
    return true;
  }

  void Keep(const Unit& unit) {
    const LaunchEntry& entry = EntryOf(unit);
    cache_->Add(unit.cache_key,
                {unit.object, entry.grid_extent, entry.scratch_bytes, entry.uses_tiles});
  }

  const ModuleSpec& spec_;
  LaunchCache* cache_;
  CodeGenerator* generator_ = nullptr;
  std::vector<std::vector<loop::Launch>> launches_;
  std::vector<Unit> units_;
  std::vector<std::vector<LaunchEntry>> entries_;
  BuildTimes times_;
};

// LLVM's options are global, set ahead of code generation and reset by each link: what one thread
// compiles must not meet another's link.
std::mutex& LlvmMutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

absl::StatusOr<std::string> BuildModule(const ModuleSpec& spec, BuildTimes* times,
                                        LaunchCache* cache) {
  const std::lock_guard lock(LlvmMutex());
  ModuleBuild build(spec, cache);
  HONE_RETURN_IF_ERROR(build.Start());
  HONE_RETURN_IF_ERROR(build.Emit());
  HONE_ASSIGN_OR_RETURN(std::string shared_object, build.Link());
  if (times) *times = build.times();
  return shared_object;
}

absl::StatusOr<std::string> EmitLlvmIr(const ModuleSpec& spec) {
  const std::lock_guard lock(LlvmMutex());
  ModuleBuild build(spec, /*cache=*/nullptr);
  HONE_RETURN_IF_ERROR(build.Start());
  HONE_RETURN_IF_ERROR(build.Emit());
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Unit& unit : build.units()) unit.module->print(stream, nullptr);
  return stream.str();
}

absl::StatusOr<std::string> EmitAssembly(const ModuleSpec& spec) {
  const std::lock_guard lock(LlvmMutex());
  ModuleBuild build(spec, /*cache=*/nullptr);
  HONE_RETURN_IF_ERROR(build.Start());
  HONE_RETURN_IF_ERROR(build.Emit());
  std::string text;
  for (const Unit& unit : build.units()) {
    HONE_ASSIGN_OR_RETURN(const std::string assembly,
                          build.generator().EmitMachineCode(*unit.module, Output::kAssembly));
    text += assembly;
  }
  return text;
}

// The number goes up with every change of passes or of what is emitted that changes kernels' times.
std::string ToolchainText() { return "LLVM " LLVM_VERSION_STRING " code 5"; }

}  // namespace hone::codegen
