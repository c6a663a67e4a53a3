// LLVM's view of a target.
#ifndef HONE_COMPILER_CODEGEN_LLVM_MACHINE_H_
#define HONE_COMPILER_CODEGEN_LLVM_MACHINE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/cpu_target.h"
#include "compiler/ir/cuda_target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hone::codegen {

enum class Output { kObject, kAssembly };

// A processor as LLVM names it.
struct Processor {
  std::string triple;
  std::string cpu;
  std::string features;  // "+avx2,+fma"
  std::string target;    // the text of the target, for errors
};

// LLVM set up for a target. Keeps its pass managers from module to module, because setting them up
// takes a twentieth of the time to build a candidate.
class CodeGenerator {
 public:
  // Returns the calling thread's generator for the target, which is made at the first call and
  // lives as long as the thread. kInvalidArgument for a triple or CPU that LLVM does not know.
  static absl::StatusOr<CodeGenerator*> For(const CpuTarget& target);
  // The same for a GPU: the assembly is PTX, and there are no objects.
  static absl::StatusOr<CodeGenerator*> For(const CudaTarget& target);
  ~CodeGenerator();
  CodeGenerator(const CodeGenerator&) = delete;
  CodeGenerator& operator=(const CodeGenerator&) = delete;

  const llvm::TargetMachine& machine() const { return *machine_; }

  // Runs the pipeline "min6" or "O3" over the module. kInvalidArgument for another name.
  absl::Status Optimise(llvm::Module& module, const std::string& pipeline);

  absl::StatusOr<std::string> EmitMachineCode(llvm::Module& module, Output output);

 private:
  struct Emission;

  static absl::StatusOr<CodeGenerator*> For(const Processor& processor);
  explicit CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine);
  bool AddPasses(Emission& emission, llvm::CodeGenFileType type);

  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<Emission> objects_, assembly_;  // made at the first module
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_MACHINE_H_
