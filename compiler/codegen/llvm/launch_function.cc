// The function around a launch: arguments, buffers, grid.
#include <fmt/format.h>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "runtime/module_abi.h"

namespace hone::codegen {

using llvm::Value;

LaunchEmitter::LaunchEmitter(llvm::Module& module, const loop::Nest& nest,
                             const TargetTraits& traits)
    : module_(module),
      nest_(nest),
      traits_(traits),
      context_(module.getContext()),
      b_(context_),
      index_(b_) {
  llvm::FastMathFlags flags;
  flags.setAllowContract();
  b_.setFastMathFlags(flags);
  values_.emplace_back();
}

void LaunchEmitter::Fail(std::string message) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(std::move(message));
}

void LaunchEmitter::PushScope() {
  index_.PushScope();
  values_.emplace_back();
}

void LaunchEmitter::PopScope() {
  index_.PopScope();
  values_.pop_back();
}

void LaunchEmitter::Declare(const std::string& name) {
  llvm::Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {pointer, b_.getInt64Ty(), b_.getInt64Ty(), pointer}, false);
  Begin(llvm::Function::Create(type, llvm::Function::InternalLinkage, name, &module_));
  function_->addParamAttr(0, llvm::Attribute::NoAlias);
  function_->addParamAttr(0, llvm::Attribute::ReadOnly);
  function_->addParamAttr(3, llvm::Attribute::NoAlias);
  const char* names[] = {"buffers", "begin", "end", "scratch"};
  for (unsigned i = 0; i < 4; ++i) function_->getArg(i)->setName(names[i]);
  scratch_ = function_->getArg(3);
}

void LaunchEmitter::Begin(llvm::Function* function) {
  function_ = function;
  function_->setDoesNotThrow();
  // No calls to memset and the like: modules have no undefined symbols.
  function_->addFnAttr("no-builtins");
  b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
}

void LaunchEmitter::BindBuffers(const loop::BufferSet& changing,
                                const std::function<Value*(size_t)>& base_of) {
  llvm::MDBuilder metadata(context_);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  std::vector<llvm::Metadata*> scopes;
  for (size_t i = 0; i <= nest_.buffers.size(); ++i) {
    scopes.push_back(metadata.createAnonymousAliasScope(domain));
  }
  // Each buffer has a scope, and accesses to it alias with none of the others.
  const auto others = [&](size_t self) {
    std::vector<llvm::Metadata*> list = scopes;
    list.erase(list.begin() + static_cast<ptrdiff_t>(self));
    return llvm::MDNode::get(context_, list);
  };
  const auto own = [&](size_t self) { return llvm::MDNode::get(context_, {scopes[self]}); };
  for (size_t i = 0; i < nest_.buffers.size(); ++i) {
    const loop::BufferNode& buffer = *nest_.buffers[i];
    Value* const base = base_of(i);
    if (base == nullptr) continue;
    Storage storage = Storage::Of(buffer);
    storage.base = base;
    storage.is_constant = !changing.contains(&buffer);
    storage.scope = own(i);
    storage.no_alias = others(i);
    storage_[&buffer] = storage;
  }
  scratch_scope_ = own(nest_.buffers.size());
  scratch_no_alias_ = others(nest_.buffers.size());
}

void LaunchEmitter::EmitAtPosition(const lower::LoweredLaunch& launch, Value* position) {
  const std::vector<lower::GridLoop>& grid = launch.grid;
  index_.PushScope();
  std::vector<Value*> values(grid.size());
  Value* rest = position;
  for (size_t i = grid.size(); i-- > 0;) {
    Value* extent = llvm::ConstantInt::get(rest->getType(), std::max<int64_t>(grid[i].extent, 1));
    values[i] = i == 0 ? rest : b_.CreateURem(rest, extent, "of." + grid[i].var->name);
    if (i > 0) rest = b_.CreateUDiv(rest, extent);
  }
  for (size_t i = 0; i < grid.size(); ++i) {
    const Index zero_based =
        grid[i].extent == 1
            ? Index{}
            : index_.Of(b_.CreateZExt(values[i], b_.getInt64Ty()), {0, grid[i].extent - 1});
    vars_[grid[i].var.get()] = IndexMath::Sum(zero_based, IndexMath::Constant(grid[i].min));
  }
  if (launch.waits) EmitWaitForLaunches();
  EmitStmt(launch.body);
  index_.PopScope();
}

// for (grid = begin; grid < end; ++grid) { the parallel variables; the body }
void LaunchEmitter::EmitGrid(const lower::LoweredLaunch& launch) {
  const bool is_empty = launch.GridIndices() == 0;
  llvm::BasicBlock* entry = b_.GetInsertBlock();
  llvm::BasicBlock* loop_block = NewBlock("grid");
  llvm::BasicBlock* exit = llvm::BasicBlock::Create(context_, "exit", function_);
  Value* runs = b_.CreateICmpSLT(function_->getArg(1), function_->getArg(2));
  b_.CreateCondBr(is_empty ? b_.getFalse() : runs, loop_block, exit);

  b_.SetInsertPoint(loop_block);
  llvm::PHINode* position = b_.CreatePHI(b_.getInt64Ty(), 2, "position");
  position->addIncoming(function_->getArg(1), entry);
  EmitAtPosition(launch, position);

  Value* next = b_.CreateAdd(position, b_.getInt64(1), "next", /*HasNUW=*/true, /*HasNSW=*/true);
  position->addIncoming(next, b_.GetInsertBlock());
  Value* again = b_.CreateICmpSLT(next, function_->getArg(2));
  CloseLoop(b_.CreateCondBr(again, loop_block, exit));
  exit->moveAfter(&function_->back());
  b_.SetInsertPoint(exit);
  EndTiles();
  b_.CreateRetVoid();
}

absl::StatusOr<LaunchCode> LaunchEmitter::Emit(const lower::LoweredLaunch& launch,
                                               const std::string& name) {
  Declare(name);
  BindBuffers(loop::AccessOf(launch.body).written, [&](size_t i) {
    Value* slot = b_.CreateConstGEP1_64(b_.getPtrTy(), function_->getArg(0), i);
    auto* base = b_.CreateLoad(b_.getPtrTy(), slot, nest_.buffers[i]->name);
    base->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return base;
  });
  launch_ = &launch;
  BeginTiles();
  EmitGrid(launch);
  if (!status_.ok()) return status_;
  return LaunchCode{function_, scratch_bytes_};
}

}  // namespace hone::codegen
