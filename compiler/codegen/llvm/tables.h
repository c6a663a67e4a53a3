// The constant data of a module: struct hone_module and everything that it points to.
#ifndef HONE_COMPILER_CODEGEN_LLVM_TABLES_H_
#define HONE_COMPILER_CODEGEN_LLVM_TABLES_H_

#include <string>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/device_code.h"
#include "compiler/lower/lowered_launch.h"
#include "llvm/IR/Module.h"

namespace hone::codegen {

// A launch and its code.
struct LaunchEntry {
  const lower::LoweredLaunch* launch = nullptr;
  std::string symbol;  // of its function, which is in this LLVM module or hidden in another object
  uint64_t scratch_bytes = 0;
};

// Defines hone_module_v1. `launches[i]` are those of kernel i, prepare launches first. With
// `device`, its launches run instead of the functions with these symbols; null if the CPU runs the
// launches.
void EmitTables(llvm::Module& module, const ModuleSpec& spec,
                const std::vector<std::vector<LaunchEntry>>& launches, const std::string& toolchain,
                const DeviceModule* device = nullptr);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_TABLES_H_
