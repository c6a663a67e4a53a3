// The constant data of a module: struct hone_module and all it points to.
#ifndef HONE_COMPILER_CODEGEN_LLVM_TABLES_H_
#define HONE_COMPILER_CODEGEN_LLVM_TABLES_H_

#include <string>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/launch_facts.h"
#include "llvm/IR/Module.h"

namespace hone::codegen {

struct LaunchEntry {
  std::string name;
  loop::Phase phase = loop::Phase::kRun;
  std::string symbol;  // of its function, in this module or hidden in another
  int64_t grid_extent = 1;
  uint64_t scratch_bytes = 0;
  bool uses_tiles = false;
  LaunchFacts facts;
};

// Defines hone_module_v1. `launches[i]` are those of kernel i, prepare launches first.
void EmitTables(llvm::Module& module, const ModuleSpec& spec,
                const std::vector<std::vector<LaunchEntry>>& launches,
                const std::string& toolchain);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_TABLES_H_
