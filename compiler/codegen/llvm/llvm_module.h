// What all LLVM modules that are made here share.
#ifndef HONE_COMPILER_CODEGEN_LLVM_LLVM_MODULE_H_
#define HONE_COMPILER_CODEGEN_LLVM_LLVM_MODULE_H_

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hone::codegen {

// Hold this while generating code or linking. LLVM's options are global: they are set before code
// is generated, and each link resets them.
std::mutex& LlvmMutex();

// An empty module for the machine. `context` must outlive it.
std::unique_ptr<llvm::Module> NewModule(llvm::LLVMContext& context,
                                        const llvm::TargetMachine& machine);

// kInternal with LLVM's message if the IR is broken, which is a bug in Hone.
absl::Status Verify(const llvm::Module& module);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_LLVM_MODULE_H_
