// The kernel of a GPU around a launch: its parameters, and a thread's place in the grid.
#include <algorithm>
#include <limits>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "runtime/module_abi.h"

namespace hone::codegen {
namespace {

using llvm::Value;

std::vector<uint32_t> UsedBuffers(const loop::Nest& nest, const loop::LaunchAccess& access) {
  std::vector<uint32_t> used;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const loop::BufferNode* const buffer = nest.buffers[i].get();
    if (access.read.contains(buffer) || access.written.contains(buffer)) {
      used.push_back(static_cast<uint32_t>(i));
    }
  }
  return used;
}

}  // namespace

void LaunchEmitter::DeclareKernel(const std::string& name, const std::vector<uint32_t>& arguments,
                                  const loop::BufferSet& written) {
  const std::vector<llvm::Type*> pointers(arguments.size(), b_.getPtrTy());
  auto* const type = llvm::FunctionType::get(b_.getVoidTy(), pointers, false);
  Begin(llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, &module_));
  function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const loop::BufferNode& buffer = *nest_.buffers[arguments[i]];
    function_->getArg(i)->setName(buffer.name);
    function_->addParamAttr(i, llvm::Attribute::NoAlias);
    function_->addParamAttr(
        i, llvm::Attribute::getWithAlignment(context_, llvm::Align(HONE_BUFFER_ALIGNMENT)));
    if (!written.contains(&buffer)) function_->addParamAttr(i, llvm::Attribute::ReadOnly);
  }
}

// Leaves the kernel where the thread is beyond the grid.
Value* LaunchEmitter::PositionOfThread(const lower::LoweredLaunch& launch, uint32_t block_threads) {
  const auto read = [&](llvm::Intrinsic::ID id) { return b_.CreateIntrinsic(id, {}, {}); };
  const int64_t indices = launch.GridIndices();
  const int64_t threads = (indices + block_threads - 1) / block_threads * block_threads;
  const bool is_narrow = threads <= std::numeric_limits<int32_t>::max();
  llvm::Type* const type = is_narrow ? b_.getInt32Ty() : b_.getInt64Ty();
  Value* const block = b_.CreateZExt(read(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), type);
  Value* const thread = b_.CreateZExt(read(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x), type);
  Value* const first =
      b_.CreateMul(block, llvm::ConstantInt::get(type, block_threads), "", true, true);
  Value* const position = b_.CreateAdd(first, thread, "position", true, true);
  if (threads == indices && indices > 0) return position;
  llvm::BasicBlock* const body = NewBlock("body");
  auto* const exit = llvm::BasicBlock::Create(context_, "beyond", function_);
  Value* const is_inside = b_.CreateICmpULT(position, llvm::ConstantInt::get(type, indices));
  b_.CreateCondBr(is_inside, body, exit);
  b_.SetInsertPoint(exit);
  b_.CreateRetVoid();
  b_.SetInsertPoint(body);
  return position;
}

absl::StatusOr<KernelCode> LaunchEmitter::EmitKernel(const lower::LoweredLaunch& launch,
                                                     const std::string& name,
                                                     uint32_t block_threads) {
  KernelCode code;
  const loop::LaunchAccess access = loop::AccessOf(launch.body);
  code.arguments = UsedBuffers(nest_, access);
  DeclareKernel(name, code.arguments, access.written);
  BindBuffers(access.written, [&](size_t i) -> Value* {
    const auto found = std::ranges::find(code.arguments, i);
    if (found == code.arguments.end()) return nullptr;
    return function_->getArg(static_cast<unsigned>(found - code.arguments.begin()));
  });
  tiles_ = launch.tiles;
  EmitAtPosition(launch, PositionOfThread(launch, block_threads));
  b_.CreateRetVoid();
  if (!status_.ok()) return status_;
  code.function = function_;
  return code;
}

}  // namespace hone::codegen
