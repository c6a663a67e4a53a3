// LLVM's view of a target.
#ifndef HONE_COMPILER_CODEGEN_LLVM_MACHINE_H_
#define HONE_COMPILER_CODEGEN_LLVM_MACHINE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/cpu_target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hone::codegen {

enum class Output { kObject, kAssembly };

// LLVM set up for a target. The pass managers are kept from module to module, because setting them
// up takes a twentieth of the time to build a candidate.
class CodeGenerator {
 public:
  // Returns the calling thread's generator for the target, which is made at the first call and
  // lives as long as the thread. kInvalidArgument for a triple or CPU that LLVM does not know.
  static absl::StatusOr<CodeGenerator*> For(const CpuTarget& target);
  ~CodeGenerator();
  CodeGenerator(const CodeGenerator&) = delete;
  CodeGenerator& operator=(const CodeGenerator&) = delete;

  const llvm::TargetMachine& machine() const { return *machine_; }

  // Runs the pipeline "min6" or "O3" over the module. kInvalidArgument for another name.
  absl::Status Optimise(llvm::Module& module, const std::string& pipeline);

  absl::StatusOr<std::string> EmitMachineCode(llvm::Module& module, Output output);

 private:
  struct Emission;

  explicit CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine);

  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<Emission> objects_, assembly_;  // made at the first module
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_MACHINE_H_
