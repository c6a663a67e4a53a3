// What all modules of LLVM here have in common.
#ifndef HONE_COMPILER_CODEGEN_LLVM_LLVM_MODULE_H_
#define HONE_COMPILER_CODEGEN_LLVM_LLVM_MODULE_H_

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hone::codegen {

// LLVM's options are global, set ahead of code generation and reset by each link, so what one
// thread compiles must not meet another's link: whoever generates code holds this.
std::mutex& LlvmMutex();

// An empty module for the machine; `context` outlives it.
std::unique_ptr<llvm::Module> NewModule(llvm::LLVMContext& context,
                                        const llvm::TargetMachine& machine);

// kInternal with LLVM's words for broken IR, which is a bug of ours.
absl::Status Verify(const llvm::Module& module);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_LLVM_MODULE_H_
