// The kernel of a GPU around a launch: its parameters, a thread's place in the grid, and what the
// threads of a block share.
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

// Those that the launch reads, and that others may store to after it has begun: other threads of
// the block between barriers, and launches that it waits for. Loads of other buffers may be moved
// ahead of barriers and of that wait, and be done through caches that do not see such stores
// (PTX ISA, "ld.global.nc").
loop::BufferSet ReadFromOthers(const loop::Nest& nest, const lower::LoweredLaunch& launch,
                               const loop::LaunchAccess& access) {
  loop::BufferSet found;
  for (const loop::Buffer& buffer : nest.buffers) {
    if (!access.read.contains(buffer.get())) continue;
    const bool is_parameter =
        buffer->role == loop::Role::kConstant || buffer->role == loop::Role::kPrepared;
    const bool is_exchanged = launch.thread && access.written.contains(buffer.get());
    if (is_exchanged || (launch.waits && !is_parameter)) found.insert(buffer.get());
  }
  return found;
}

}  // namespace

void LaunchEmitter::DeclareKernel(const std::string& name, const std::vector<uint32_t>& arguments,
                                  const loop::LaunchAccess& access,
                                  const loop::BufferSet& from_others) {
  const std::vector<llvm::Type*> pointers(arguments.size(), b_.getPtrTy());
  auto* const type = llvm::FunctionType::get(b_.getVoidTy(), pointers, false);
  Begin(llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, &module_));
  function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const loop::BufferNode& buffer = *nest_.buffers[arguments[i]];
    function_->getArg(i)->setName(buffer.name);
    const bool is_written = access.written.contains(&buffer);
    if (!from_others.contains(&buffer)) function_->addParamAttr(i, llvm::Attribute::NoAlias);
    function_->addParamAttr(
        i, llvm::Attribute::getWithAlignment(context_, llvm::Align(HONE_BUFFER_ALIGNMENT)));
    if (!is_written) function_->addParamAttr(i, llvm::Attribute::ReadOnly);
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

Value* LaunchEmitter::PositionOfBlock(const lower::GridLoop& thread) {
  const auto read = [&](llvm::Intrinsic::ID id) {
    return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty());
  };
  vars_[thread.var.get()] =
      index_.Of(read(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x), {0, thread.extent - 1});
  return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {});
}

// All kernels of a module name one array, whose bytes are those of each launch. Buffers lie in it
// one behind the other, from where those that are there at the same time end.
Value* LaunchEmitter::SharedMemory(const loop::BufferNode& buffer) {
  constexpr char kName[] = "hone_shared";
  constexpr unsigned kSharedSpace = 3;  // of NVPTX
  // The hardware takes a row's number for the swizzle from the address, so that a buffer begins
  // where the pattern of eight rows does.
  constexpr uint64_t kPatternBytes = 1024;
  const bool is_swizzled = launch_->warpgroups.swizzled.contains(&buffer);
  const uint64_t alignment = is_swizzled ? kPatternBytes : HONE_BUFFER_ALIGNMENT;
  llvm::GlobalVariable* memory = module_.getNamedGlobal(kName);
  if (memory == nullptr) {
    memory =
        new llvm::GlobalVariable(module_, llvm::ArrayType::get(b_.getInt8Ty(), 0),
                                 /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                 kName, nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    memory->setAlignment(llvm::Align(HONE_BUFFER_ALIGNMENT));
  }
  memory->setAlignment(std::max(*memory->getAlign(), llvm::Align(alignment)));
  shared_now_ = (shared_now_ + alignment - 1) / alignment * alignment;
  Value* const base = b_.CreateConstGEP1_64(b_.getInt8Ty(), memory, shared_now_);
  const int64_t bytes = buffer.layout.ElementCount(buffer.shape) * SizeBytes(buffer.dtype);
  shared_now_ += (static_cast<uint64_t>(bytes) + HONE_BUFFER_ALIGNMENT - 1) /
                 HONE_BUFFER_ALIGNMENT * HONE_BUFFER_ALIGNMENT;
  shared_bytes_ = std::max(shared_bytes_, shared_now_);
  return base;
}

absl::StatusOr<KernelCode> LaunchEmitter::EmitKernel(const lower::LoweredLaunch& launch,
                                                     const std::string& name,
                                                     uint32_t block_threads) {
  KernelCode code;
  const loop::LaunchAccess access = loop::AccessOf(launch.body);
  code.arguments = UsedBuffers(nest_, access);
  const loop::BufferSet from_others = ReadFromOthers(nest_, launch, access);
  DeclareKernel(name, code.arguments, access, from_others);
  loop::BufferSet changing = access.written;
  changing.insert(from_others.begin(), from_others.end());
  BindBuffers(changing, [&](size_t i) -> Value* {
    const auto found = std::ranges::find(code.arguments, i);
    if (found == code.arguments.end()) return nullptr;
    return function_->getArg(static_cast<unsigned>(found - code.arguments.begin()));
  });
  launch_ = &launch;
  index_.PushScope();
  has_sum_registers_ = false;
  if (!launch_->warps.operations.empty()) BeginWarps();
  EmitAtPosition(launch, launch.thread ? PositionOfBlock(*launch.thread)
                                       : PositionOfThread(launch, block_threads));
  index_.PopScope();
  b_.CreateRetVoid();
  if (!status_.ok()) return status_;
  code.function = function_;
  code.shared_bytes = shared_bytes_;
  return code;
}

}  // namespace hone::codegen
