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
  const ModuleSpec* spec = nullptr;  // not owned
  // For each kernel its launches in execution order, and for each launch a symbol that is unique in
  // the module.
  std::vector<std::vector<lower::LoweredLaunch>> launches;
  std::vector<std::vector<std::string>> symbols;
};

// kModule is the bytes of the shared object. The others are texts for people: kIr is LLVM IR after
// optimisation, kAssembly the machine's assembly or PTX. For OpenCL both are the OpenCL C program.
enum class CodeForm { kModule, kIr, kAssembly };

// Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  // Returns the module's code in the given form. If there is a cache, a back-end may take from it
  // the code of all launches of a kernel except the last one. Those that it does not find there, it
  // then compiles separately and adds to the cache. `cache` and `times` may be null.
  // kInvalidArgument for a nest that cannot be compiled, kInternal if a tool such as LLVM or lld
  // fails.
  virtual absl::StatusOr<std::string> Emit(const LoweredModule& module, CodeForm form,
                                           LaunchCache* cache, BuildTimes* times) const = 0;

  // The versions of the tools and of Hone's code generation, stored with every time that is
  // measured. Times of code from different toolchains are never compared.
  virtual std::string Toolchain() const = 0;
};

// The back-end for the target's kind.
const Backend& BackendFor(const Target& target);

// The back-ends for CPUs (LLVM), for NVIDIA GPUs (LLVM, PTX), and for OpenCL C.
const Backend& LlvmBackend();
const Backend& PtxBackend();
const Backend& OpenClBackend();

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_BACKEND_H_
