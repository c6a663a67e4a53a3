// The constant data of a module: struct hone_module and all it points to.
#ifndef HONE_COMPILER_CODEGEN_LLVM_TABLES_H_
#define HONE_COMPILER_CODEGEN_LLVM_TABLES_H_

#include <string>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/device_code.h"
#include "compiler/lower/lowered_launch.h"
#include "llvm/IR/Module.h"

namespace hone::codegen {

// A launch, and its code.
struct LaunchEntry {
  const lower::LoweredLaunch* launch = nullptr;
  std::string symbol;  // of its function, in this module or hidden in another
  uint64_t scratch_bytes = 0;
};

// Defines hone_module_v1. `launches[i]` are those of kernel i, prepare launches first. `device`:
// what runs them in place of functions of their symbols; nullptr: they are the host's.
void EmitTables(llvm::Module& module, const ModuleSpec& spec,
                const std::vector<std::vector<LaunchEntry>>& launches, const std::string& toolchain,
                const DeviceModule* device = nullptr);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_TABLES_H_
