// What a back-end is: it makes code for one kind of machine.
#ifndef HONE_COMPILER_CODEGEN_BACKEND_H_
#define HONE_COMPILER_CODEGEN_BACKEND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/launch_cache.h"
#include "compiler/lower/lowered_launch.h"

namespace hone::codegen {

// A module's specification, and its kernels' nests lowered.
struct LoweredModule {
  const ModuleSpec* spec = nullptr;  // outlives it
  // Launches of each kernel in execution order, and a symbol for each, no two of a module alike.
  std::vector<std::vector<lower::LoweredLaunch>> launches;
  std::vector<std::vector<std::string>> symbols;
};

// kModule: the bytes of the shared object. The others are texts for people: what the back-end
// optimises, and what the machine runs.
enum class CodeForm { kModule, kIr, kAssembly };

// Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  // With a `cache`, what comes before a kernel's last launch is taken from there, or compiled by
  // itself and kept. `times` may be nullptr. kInvalidArgument for a nest that cannot be compiled,
  // kInternal for failures of the tools beneath.
  virtual absl::StatusOr<std::string> Emit(const LoweredModule& module, CodeForm form,
                                           LaunchCache* cache, BuildTimes* times) const = 0;

  // The tools' version and that of the code made by them: times of two are never compared.
  virtual std::string Toolchain() const = 0;
};

// The back-end for targets of the kind. kUnimplemented: there is none.
absl::StatusOr<const Backend*> BackendFor(const Target& target);

// LLVM's code for CPUs, and OpenCL C.
const Backend& LlvmBackend();
const Backend& OpenClBackend();

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_BACKEND_H_
