// Where a kernel waits for the launches ahead of it, and where it lets those behind it start (PTX
// ISA, "griddepcontrol"). LLVM has no intrinsics for either.
#include "compiler/codegen/llvm/launch_emitter.h"
#include "llvm/IR/InlineAsm.h"

namespace hone::codegen {
namespace {

void CallAssembly(Builder& b, const char* text) {
  auto* const type = llvm::FunctionType::get(b.getVoidTy(), false);
  llvm::CallInst* const call =
      b.CreateCall(type, llvm::InlineAsm::get(type, text, "~{memory}", /*hasSideEffects=*/true));
  call->setDoesNotThrow();
}

}  // namespace

void LaunchEmitter::EmitWaitForLaunches() { CallAssembly(b_, "griddepcontrol.wait;"); }

void LaunchEmitter::EmitStartOfDependents() {
  CallAssembly(b_, "griddepcontrol.launch_dependents;");
}

}  // namespace hone::codegen
