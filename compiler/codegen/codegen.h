// Makes ELF shared objects from nests, with the target's back-end and an in-process lld.
#ifndef HONE_COMPILER_CODEGEN_CODEGEN_H_
#define HONE_COMPILER_CODEGEN_CODEGEN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/launch_cache.h"
#include "compiler/ir/target.h"
#include "compiler/loop/stmt.h"

namespace hone::codegen {

// A kernel to compile, and what the module's table says about it.
struct KernelSpec {
  std::string name;
  std::string workload;
  std::string workload_digest;
  std::string config;
  std::string tier;
  double flops = 0;
  double error_bound = 0;
  bool spreads_rounding = false;  // sets HONE_BUFFER_TRANSFORMED on outputs
  bool flush_subnormals = false;  // sets HONE_LAUNCH_FLUSH_SUBNORMALS on run launches
  loop::Nest nest;
  // "min6" (sroa, early-cse, instcombine, simplifycfg, licm, early-cse, simplifycfg) or "O3"; both
  // without LLVM's loop vectoriser, SLP vectoriser and unroller, since schedules decide these.
  std::string pipeline = "min6";
};

// These structs describe the graph part of a module. They have the contents of struct hone_function
// (runtime/module_abi.h) and of what it points to.
struct Location {
  int space = 0;  // enum hone_space
  int index = 0;
  uint64_t offset_bytes = 0;
};
struct CallSpec {
  int kernel = 0;
  bool barrier_before = false;
  std::vector<Location> locations;  // one for each buffer of the kernel's nest
};
struct ValueSpec {
  std::string name;
  DataType dtype = DataType::kFloat32;
  std::vector<int64_t> shape;
};
// Where a buffer of a call in a repeat is in each trip: the contents of struct hone_move.
struct MoveSpec {
  Location next;
  int64_t stride_bytes = 0;
  bool alternates = false;
};
struct RepeatSpec {
  int first_call = 0;
  int call_count = 0;
  int64_t trips = 1;
  std::vector<MoveSpec> moves;  // one for each buffer of each call
};
struct FunctionSpec {
  std::string name = "main";
  std::vector<ValueSpec> inputs;
  std::vector<ValueSpec> outputs;
  std::vector<CallSpec> calls;
  std::vector<RepeatSpec> repeats;  // in ascending order; no two share a call
  uint64_t arena_bytes = 0;
};
struct ModuleSpec {
  Target target;
  std::vector<KernelSpec> kernels;
  std::vector<FunctionSpec> functions;  // empty for an artifact
  uint64_t parameters_bytes = 0;        // appended by the driver (ModuleWriter)
};

// Where the time of a build went, in nanoseconds.
struct BuildTimes {
  int64_t emit_ns = 0;
  int64_t optimise_ns = 0;
  int64_t machine_code_ns = 0;
  int64_t link_ns = 0;
};

// The next three functions are thread-safe, but where they use LLVM and the in-process lld, whose
// state is global, they run one at a time.

// Returns the bytes of the shared object. While it links, lld's signal handlers replace those of
// the process. `cache` and errors are as for Backend::Emit.
absl::StatusOr<std::string> BuildModule(const ModuleSpec& spec, BuildTimes* times = nullptr,
                                        LaunchCache* cache = nullptr);

// The kernels of a module as text for people: CodeForm::kIr and CodeForm::kAssembly (backend.h).
absl::StatusOr<std::string> EmitLlvmIr(const ModuleSpec& spec);
absl::StatusOr<std::string> EmitAssembly(const ModuleSpec& spec);

// Backend::Toolchain of the target's back-end, such as "LLVM 19.1.7 code 5".
std::string ToolchainText(const Target& target = {});

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_CODEGEN_H_
