// The interface of back-ends; each makes code for one kind of machine.
#ifndef HONE_COMPILER_CODEGEN_BACKEND_H_
#define HONE_COMPILER_CODEGEN_BACKEND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/launch_cache.h"
#include "compiler/lower/lowered_launch.h"

namespace hone::codegen {

// A module's specification together with the lowered nests of its kernels.
struct LoweredModule {
  const ModuleSpec* spec = nullptr;  // outlives it
  // For each kernel its launches in execution order, and for each launch a symbol that is unique in
  // the module.
  std::vector<std::vector<lower::LoweredLaunch>> launches;
  std::vector<std::vector<std::string>> symbols;
};

// kModule is the bytes of the shared object. The others are texts for people: kIr is the code that
// the back-end optimises, kAssembly what the machine runs.
enum class CodeForm { kModule, kIr, kAssembly };

// Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  // With a `cache`, all launches of a kernel but its last are taken from there, or compiled
  // separately and added to it. `cache` and `times` may be nullptr. kInvalidArgument for a nest
  // that cannot be compiled, kInternal if a tool such as LLVM or lld fails.
  virtual absl::StatusOr<std::string> Emit(const LoweredModule& module, CodeForm form,
                                           LaunchCache* cache, BuildTimes* times) const = 0;

  // The versions of the tools and of Hone's code generation. Times of code from different
  // toolchains are never compared.
  virtual std::string Toolchain() const = 0;
};

// The back-end for the target's kind.
const Backend& BackendFor(const Target& target);

// The back-ends that make code for CPUs and PTX, both with LLVM, and OpenCL C.
const Backend& LlvmBackend();
const Backend& PtxBackend();
const Backend& OpenClBackend();

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_BACKEND_H_
