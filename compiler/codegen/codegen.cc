#include "compiler/codegen/codegen.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "compiler/codegen/backend.h"
#include "compiler/lower/lower.h"
#include "support/status.h"

namespace hone::codegen {
namespace {

// "conv2d.relu", of letters that assemblers and profilers like.
std::string SymbolName(const std::string& kernel, const std::string& launch) {
  std::string name = kernel + "." + launch;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '_';
  }
  return name;
}

// A symbol for each launch, no two alike: launches of one kernel may share a name.
std::vector<std::vector<std::string>> SymbolsOf(
    const ModuleSpec& spec, const std::vector<std::vector<lower::LoweredLaunch>>& launches) {
  std::vector<std::vector<std::string>> symbols(launches.size());
  absl::flat_hash_set<std::string> taken;
  for (size_t kernel = 0; kernel < launches.size(); ++kernel) {
    const std::string suffix = launches.size() > 1 ? fmt::format(".{}", kernel) : "";
    for (const lower::LoweredLaunch& launch : launches[kernel]) {
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

absl::StatusOr<LoweredModule> Lower(const ModuleSpec& spec) {
  LoweredModule module{.spec = &spec, .launches = {}, .symbols = {}};
  for (const KernelSpec& kernel : spec.kernels) {
    HONE_ASSIGN_OR_RETURN(std::vector<lower::LoweredLaunch> launches,
                          lower::LowerLaunches(kernel.nest, spec.target));
    module.launches.push_back(std::move(launches));
  }
  module.symbols = SymbolsOf(spec, module.launches);
  return module;
}

absl::StatusOr<std::string> Emit(const ModuleSpec& spec, CodeForm form, LaunchCache* cache,
                                 BuildTimes* times) {
  HONE_ASSIGN_OR_RETURN(const LoweredModule module, Lower(spec));
  return BackendFor(spec.target).Emit(module, form, cache, times);
}

}  // namespace

const Backend& BackendFor(const Target& target) {
  struct OfKind {
    const Backend& operator()(const CpuTarget&) const { return LlvmBackend(); }
    const Backend& operator()(const CudaTarget&) const { return PtxBackend(); }
    const Backend& operator()(const OpenClTarget&) const { return OpenClBackend(); }
  };
  return std::visit(OfKind(), target.kind);
}

absl::StatusOr<std::string> BuildModule(const ModuleSpec& spec, BuildTimes* times,
                                        LaunchCache* cache) {
  return Emit(spec, CodeForm::kModule, cache, times);
}

absl::StatusOr<std::string> EmitLlvmIr(const ModuleSpec& spec) {
  return Emit(spec, CodeForm::kIr, /*cache=*/nullptr, /*times=*/nullptr);
}

absl::StatusOr<std::string> EmitAssembly(const ModuleSpec& spec) {
  return Emit(spec, CodeForm::kAssembly, /*cache=*/nullptr, /*times=*/nullptr);
}

std::string ToolchainText(const Target& target) { return BackendFor(target).Toolchain(); }

}  // namespace hone::codegen
