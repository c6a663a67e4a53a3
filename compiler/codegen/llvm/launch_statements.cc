// Statements of a launch.
#include <fmt/format.h>

#include <utility>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/loop/visit.h"
#include "runtime/memory.h"
#include "runtime/module_abi.h"

namespace hone::codegen {
namespace {

using llvm::Value;
using loop::Interval;
using loop::LoopKind;
using loop::StmtKind;

// Buffers above this lie in the scratch of the thread, whatever their scope.
constexpr uint64_t kStackBytes = 64 << 10;

// Whether the condition says of the store that it is not of a pad lane, and nothing else.
bool LeavesOutPads(const loop::Expr& condition, const loop::StmtNode& store) {
  if (!condition || condition->kind != loop::ExprKind::kBinary ||
      condition->binary_op != loop::BinaryOp::kLt || store.indices.empty()) {
    return false;
  }
  const Layout::Dim block = store.buffer->layout.dims().back();
  const auto axis = static_cast<size_t>(block.axis);
  int64_t extent = 0;
  return block.factor > 1 && loop::IsConstInt(condition->operands[1], &extent) &&
         extent == store.buffer->shape[axis] &&
         loop::StructuralEqual(condition->operands[0], store.indices[axis]);
}

// Whether no statement stores to pad lanes of the buffer. `condition`: of the innermost `if`.
bool NeverStoresPads(const loop::Stmt& s, const loop::Buffer& buffer, const loop::Expr& condition) {
  if (s->kind == StmtKind::kStore && s->buffer == buffer) return LeavesOutPads(condition, *s);
  for (size_t i = 0; i < s->body.size(); ++i) {
    const bool then = s->kind == StmtKind::kIf && i == 0;
    const bool otherwise = s->kind == StmtKind::kIf && i > 0;
    const loop::Expr inner = then ? s->condition : otherwise ? loop::Expr() : condition;
    if (s->body[i] && !NeverStoresPads(s->body[i], buffer, inner)) return false;
  }
  return true;
}

// Whether no loop of the body remains one.
bool IsInnermost(const loop::Stmt& loop) {
  bool innermost = true;
  loop::Walk(loop->body[0], [&](const loop::Stmt& s) {
    const bool loops = s->kind == StmtKind::kFor &&
                       (s->loop_kind == LoopKind::kSerial || s->loop_kind == LoopKind::kParallel);
    innermost = innermost && !loops && s->kind != StmtKind::kWhile;
    return innermost;
  });
  return innermost;
}

}  // namespace

llvm::BasicBlock* LaunchEmitter::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(context_, name, function_);
}

// Unrolling is the schedule's.
void LaunchEmitter::CloseLoop(llvm::BranchInst* back) {
  llvm::Metadata* disable =
      llvm::MDNode::get(context_, llvm::MDString::get(context_, "llvm.loop.unroll.disable"));
  llvm::MDNode* id = llvm::MDNode::getDistinct(context_, {nullptr, disable});
  id->replaceOperandWith(0, id);
  back->setMetadata(llvm::LLVMContext::MD_loop, id);
}

void LaunchEmitter::EmitStmt(const loop::Stmt& s) {
  if (!status_.ok()) return;
  EmitOfKind(s);
  if (s.get() == launch_->end_of_sums) EmitStartOfDependents();
}

void LaunchEmitter::EmitOfKind(const loop::Stmt& s) {
  switch (s->kind) {
    case StmtKind::kFor: {
      const auto late = launch_->warpgroups.late.find(s.get());
      if (late == launch_->warpgroups.late.end()) return EmitFor(s);
      return EmitLateProducts(s, launch_->warpgroups.products.at(late->second));
    }
    case StmtKind::kStore:
      return EmitStore(s);
    case StmtKind::kSeq:
      for (const loop::Stmt& child : s->body) EmitStmt(child);
      return;
    case StmtKind::kIf:
      return EmitIf(s);
    case StmtKind::kWhile:
      return EmitWhile(s);
    case StmtKind::kAlloc:
      return EmitAlloc(s);
    case StmtKind::kBarrier:
      return EmitBarrier(s->pending);
    case StmtKind::kCommit:
      return EmitCommit();
    case StmtKind::kPrefetch:
      return EmitPrefetch(s);
  }
}

void LaunchEmitter::EmitFor(const loop::Stmt& s) {
  BeginStatement();
  if (const auto product = launch_->warpgroups.products.find(s.get());
      product != launch_->warpgroups.products.end()) {
    return EmitWarpgroupProduct(product->second);
  }
  const Index min = *IndexOf(s->min);
  const Index extent = *IndexOf(s->extent);
  if (index_.RangeOf(extent).max <= 0) return;
  if (!extent.IsConstant()) return EmitSerial(s, min, extent);
  if (extent.constant == 1) return EmitUnrolled(s, min, 1);
  if (s->loop_kind == LoopKind::kDot) {
    return launch_->dots.contains(s.get()) ? EmitDot(s, min)
                                           : EmitUnrolled(s, min, extent.constant);
  }
  if (const auto tile = launch_->tiles.operations.find(s.get());
      region_ && tile != launch_->tiles.operations.end()) {
    return EmitTile(tile->second);
  }
  if (const auto tile = launch_->warps.operations.find(s.get());
      tile != launch_->warps.operations.end()) {
    return EmitWarpOperation(tile->second);
  }
  if (s->loop_kind == LoopKind::kUnroll) {
    const auto plan = launch_->transpositions.find(s.get());
    if (plan != launch_->transpositions.end()) {
      return EmitTransposed(plan->second, s->var, min, extent.constant);
    }
    return EmitUnrolled(s, min, extent.constant);
  }
  if (s->loop_kind == LoopKind::kVectorize) return EmitVectorized(s, min, extent.constant);
  EmitSerial(s, min, extent);
}

void LaunchEmitter::EmitUnrolled(const loop::Stmt& s, const Index& min, int64_t extent) {
  for (int64_t i = 0; i < extent && status_.ok(); ++i) {
    vars_[s->var.get()] = IndexMath::Sum(min, IndexMath::Constant(i));
    EmitStmt(s->body[0]);
  }
}

void LaunchEmitter::EmitVectorized(const loop::Stmt& s, const Index& min, int64_t extent) {
  const VectorState outer = vector_;
  BeginLanes(s, min, extent);
  EmitStmt(s->body[0]);
  vector_ = outer;
}

void LaunchEmitter::BeginLanes(const loop::Stmt& vectorized, const Index& min, int64_t lanes) {
  vector_.lanes = static_cast<int>(lanes);
  vector_.lane_atom = index_.LaneAtom(vector_.lanes);
  vars_[vectorized->var.get()] = IndexMath::Sum(min, Index{0, {{vector_.lane_atom, 1}}});
  BeginStatement();
}

void LaunchEmitter::EmitSerial(const loop::Stmt& s, const Index& min, const Index& extent) {
  const Interval low = index_.RangeOf(min);
  const Interval count = index_.RangeOf(extent);
  Value* first = index_.Emit(min);
  Value* last = index_.Emit(IndexMath::Sum(min, extent));
  llvm::BasicBlock* body = NewBlock("loop");
  llvm::BasicBlock* exit = NewBlock("done");
  llvm::BasicBlock* before = b_.GetInsertBlock();
  if (count.min >= 1) {
    b_.CreateBr(body);
  } else {
    b_.CreateCondBr(b_.CreateICmpSLT(first, last), body, exit);
  }
  b_.SetInsertPoint(body);
  llvm::PHINode* position = b_.CreatePHI(b_.getInt64Ty(), 2, s->var->name);
  position->addIncoming(first, before);
  const Interval range{
      low.min, low.HasMax() && count.HasMax() ? low.max + count.max - 1 : Interval::kInfinity};
  const Index variable = index_.Of(position, range);
  SteppedLoop loop{variable.terms[0].atom, min, before, body, index_.scopes(), {}};
  SteppedLoop* outer = std::exchange(stepped_, traits_.x86 && IsInnermost(s) ? &loop : nullptr);
  index_.PushScope();
  vars_[s->var.get()] = variable;
  ForgetTiles();
  EmitStmt(s->body[0]);
  ForgetTiles();
  index_.PopScope();
  stepped_ = outer;
  StepPointers(loop);
  Value* next = b_.CreateAdd(position, b_.getInt64(1), "", /*HasNUW=*/false, /*HasNSW=*/true);
  position->addIncoming(next, b_.GetInsertBlock());
  // The body has run, so `next` meets `last`. Of "less" InstCombine makes a comparison of the
  // position ahead of the addition: both stay alive, which is a move and a register more beside the
  // pointers.
  const auto again = loop.pointers.empty() ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_NE;
  CloseLoop(b_.CreateCondBr(b_.CreateICmp(again, next, last), body, exit));
  exit->moveAfter(&function_->back());
  b_.SetInsertPoint(exit);
  BeginStatement();
}

void LaunchEmitter::EmitIf(const loop::Stmt& s) {
  BeginStatement();
  const bool has_else = s->body.size() > 1;
  if (const std::optional<bool> decided = Decide(s->condition)) {
    if (*decided) return EmitStmt(s->body[0]);
    if (has_else) EmitStmt(s->body[1]);
    return;
  }
  Value* condition = EmitExpr(s->condition);
  if (LanesOf(condition) > 1) {
    Value* outer = vector_.mask;
    const loop::Expr outer_condition = vector_.condition;
    const auto masked = [&](const loop::Stmt& branch, Value* mask) {
      index_.PushScope();
      vector_.mask = outer ? b_.CreateAnd(outer, mask) : mask;
      vector_.condition = mask == condition && !outer ? s->condition : loop::Expr();
      EmitStmt(branch);
      index_.PopScope();
    };
    masked(s->body[0], condition);
    if (has_else) masked(s->body[1], b_.CreateNot(condition));
    vector_.mask = outer;
    vector_.condition = outer_condition;
    return;
  }
  llvm::BasicBlock* then = NewBlock("then");
  llvm::BasicBlock* otherwise = has_else ? NewBlock("else") : nullptr;
  llvm::BasicBlock* join = NewBlock("join");
  b_.CreateCondBr(condition, then, has_else ? otherwise : join);
  const auto branch = [&](llvm::BasicBlock* block, const loop::Stmt& body) {
    b_.SetInsertPoint(block);
    index_.PushScope();
    ForgetTiles();
    EmitStmt(body);
    ForgetTiles();
    index_.PopScope();
    b_.CreateBr(join);
  };
  branch(then, s->body[0]);
  if (has_else) branch(otherwise, s->body[1]);
  join->moveAfter(&function_->back());
  b_.SetInsertPoint(join);
  BeginStatement();
}

void LaunchEmitter::EmitWhile(const loop::Stmt& s) {
  llvm::BasicBlock* test = NewBlock("while");
  llvm::BasicBlock* body = NewBlock("loop");
  llvm::BasicBlock* exit = NewBlock("done");
  b_.CreateBr(test);
  b_.SetInsertPoint(test);
  index_.PushScope();
  BeginStatement();
  b_.CreateCondBr(EmitExpr(s->condition), body, exit);
  b_.SetInsertPoint(body);
  ForgetTiles();
  EmitStmt(s->body[0]);
  ForgetTiles();
  index_.PopScope();
  CloseLoop(b_.CreateBr(test));
  exit->moveAfter(&function_->back());
  b_.SetInsertPoint(exit);
  BeginStatement();
}

// Says that nothing is in the buffer's vectors. Else lanes that masked stores leave alone would
// carry values from one iteration of the loops around it to the next, and make one chain of them
// all.
void LaunchEmitter::EmitUndefined(const loop::BufferNode& buffer, Value* slot) {
  constexpr int64_t kMostVectors = 32;
  if (vector_.lanes != 1 || buffer.shape.empty()) return;
  const int64_t lanes = buffer.layout.dims().back().factor;
  const int64_t elements = buffer.layout.ElementCount(buffer.shape);
  const int64_t bytes = lanes * SizeBytes(buffer.dtype);
  if (lanes < 2 || bytes > traits_.vector_bytes || elements > lanes * kMostVectors) return;
  llvm::Type* element = MemoryType(context_, buffer.dtype);
  Value* nothing = llvm::PoisonValue::get(Widen(element, static_cast<int>(lanes)));
  for (int64_t at = 0; at < elements; at += lanes) {
    b_.CreateAlignedStore(nothing, b_.CreateConstGEP1_64(element, slot, at),
                          AlignOfElement(element));
  }
}

void LaunchEmitter::EmitAlloc(const loop::Stmt& s) {
  if (const auto region = launch_->tiles.regions.find(s.get());
      region != launch_->tiles.regions.end()) {
    return EmitTileAlloc(s, region->second);
  }
  if (const auto sums = launch_->warps.sums.find(s.get()); sums != launch_->warps.sums.end()) {
    return EmitWarpSums(s, sums->second);
  }
  const loop::BufferNode& buffer = *s->buffer;
  Storage storage = Storage::Of(buffer, vector_.lanes);
  if (scratch_ == nullptr && buffer.scope == loop::Scope::kShared) {
    const uint64_t outer = shared_now_;
    storage.base = SharedMemory(buffer);
    storage.is_swizzled = launch_->warpgroups.swizzled.contains(&buffer);
    storage.scope = scratch_scope_;
    storage.no_alias = scratch_no_alias_;
    storage_[&buffer] = storage;
    EmitStmt(s->body[0]);
    storage_.erase(&buffer);
    shared_now_ = outer;
    return;
  }
  const uint64_t bytes = static_cast<uint64_t>(storage.elements) * SizeBytes(buffer.dtype);
  const uint64_t outer = scratch_now_;
  // Ahead of all loops: pointers that step through the buffer start outside of the one around it.
  Builder entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  const bool is_small = buffer.scope != loop::Scope::kLocal && bytes <= kStackBytes;
  if (scratch_ == nullptr || is_small) {
    llvm::Type* type = llvm::ArrayType::get(MemoryType(context_, buffer.dtype), storage.elements);
    auto* slot = entry.CreateAlloca(type, nullptr, buffer.name);
    slot->setAlignment(llvm::Align(HONE_BUFFER_ALIGNMENT));
    storage.base = slot;
    storage.is_private = true;
    storage.pads_free = NeverStoresPads(s->body[0], s->buffer, loop::Expr());
    EmitUndefined(buffer, slot);
  } else {
    storage.base = entry.CreateConstGEP1_64(b_.getInt8Ty(), scratch_, scratch_now_);
    storage.scope = scratch_scope_;
    storage.no_alias = scratch_no_alias_;
    scratch_now_ += AlignedBytes(bytes);
    scratch_bytes_ = std::max(scratch_bytes_, scratch_now_);
  }
  storage_[&buffer] = storage;
  EmitStmt(s->body[0]);
  storage_.erase(&buffer);
  scratch_now_ = outer;
}

void LaunchEmitter::EmitPrefetch(const loop::Stmt& s) {
  if (!traits_.prefetches) return;
  BeginStatement();
  const Address address = Locate(s->buffer, s->indices);
  if (!status_.ok() || !address.pointer) return;  // scattered: not worth it
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                     {address.pointer, b_.getInt32(0), b_.getInt32(s->locality), b_.getInt32(1)});
}

// On GPUs, what copies 16-bit floats does not widen and round them.
bool LaunchEmitter::CopiesBits(const loop::Stmt& s) const {
  const loop::Expr& e = s->value;
  return scratch_ == nullptr && e->kind == loop::ExprKind::kLoad && e->dtype == s->buffer->dtype &&
         IsFloat(e->dtype) && SizeBytes(e->dtype) == 2;
}

llvm::Value* LaunchEmitter::LoadBits(const loop::Expr& load) {
  const Address address = Locate(load->buffer, load->operands);
  return status_.ok() ? LoadStored(address) : nullptr;
}

void LaunchEmitter::EmitStore(const loop::Stmt& s) {
  BeginStatement();
  if (launch_->copied.contains(s->buffer.get()) && EmitCopy(s)) return;
  const bool copies_bits = CopiesBits(s);
  Value* value = copies_bits ? LoadBits(s->value) : EmitExpr(s->value);
  const Address address = Locate(s->buffer, s->indices);
  if (!status_.ok()) return;
  ForgetTiles();
  if (!copies_bits) value = ToMemory(b_, value, s->buffer->dtype, traits_);
  StoreLanes(address, value, LeavesOutPads(vector_.condition, *s));
}

}  // namespace hone::codegen
