// LLVM's view of a target.
#ifndef HONE_COMPILER_CODEGEN_LLVM_MACHINE_H_
#define HONE_COMPILER_CODEGEN_LLVM_MACHINE_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hone::codegen {

// Made once for a target and thread; lives as long as the thread. kInvalidArgument for a triple or
// cpu that LLVM does not know.
absl::StatusOr<llvm::TargetMachine*> MachineFor(const Target& target);

// Runs the pipeline "min6" or "O3" over the module. kInvalidArgument for another name.
absl::Status Optimise(llvm::Module& module, llvm::TargetMachine& machine,
                      const std::string& pipeline);

enum class Output { kObject, kAssembly };
absl::StatusOr<std::string> EmitMachineCode(llvm::Module& module, llvm::TargetMachine& machine,
                                            Output output);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_MACHINE_H_
