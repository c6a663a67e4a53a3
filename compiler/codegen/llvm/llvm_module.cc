#include "compiler/codegen/llvm/llvm_module.h"

#include <fmt/format.h>

#include <string>

#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace hone::codegen {

std::mutex& LlvmMutex() {
  static std::mutex mutex;
  return mutex;
}

std::unique_ptr<llvm::Module> NewModule(llvm::LLVMContext& context,
                                        const llvm::TargetMachine& machine) {
  auto module = std::make_unique<llvm::Module>("hone", context);
  module->setTargetTriple(machine.getTargetTriple().str());
  module->setDataLayout(machine.createDataLayout());
  return module;
}

absl::Status Verify(const llvm::Module& module) {
  std::string words;
  llvm::raw_string_ostream stream(words);
  if (!llvm::verifyModule(module, &stream)) return absl::OkStatus();
  return absl::InternalError(fmt::format("code generation made broken IR: {}", stream.str()));
}

}  // namespace hone::codegen
