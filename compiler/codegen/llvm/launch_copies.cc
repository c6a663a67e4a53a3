// Copies from global to shared memory that threads begin and do not wait for, and what waits for
// them (PTX ISA, "cp.async").
#include <algorithm>

#include "compiler/codegen/llvm/launch_emitter.h"
#include "compiler/loop/visit.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hone::codegen {
namespace {

namespace Intrinsic = llvm::Intrinsic;
using llvm::Value;
using loop::Expr;
using loop::ExprKind;

constexpr unsigned kGlobalSpace = 1;  // of NVPTX

// What is copied: an element of a global buffer, or zero where the condition is false.
struct Copied {
  Expr load;
  Expr condition;  // or null
};

bool IsZero(const Expr& e) {
  int64_t value = 1;
  return (e->kind == ExprKind::kFloat && e->float_value == 0) ||
         (loop::IsConstInt(e, &value) && value == 0);
}

std::optional<Copied> CopiedBy(const loop::StmtNode& store) {
  Copied copied{.load = store.value, .condition = {}};
  if (store.value->kind == ExprKind::kSelect) {
    if (!IsZero(store.value->operands[2])) return std::nullopt;
    copied = {.load = store.value->operands[1], .condition = store.value->operands[0]};
  }
  const Expr& load = copied.load;
  if (load->kind != ExprKind::kLoad || load->buffer->scope != loop::Scope::kGlobal ||
      load->dtype != store.buffer->dtype) {
    return std::nullopt;
  }
  // The address is computed where the condition is false, too.
  if (copied.condition && std::ranges::any_of(load->operands, loop::HasLoad)) return std::nullopt;
  return copied;
}

// The instruction for so many bytes, with a number of them that are not zeros; of 16 bytes, it
// leaves the first cache out.
Intrinsic::ID CopyOf(uint64_t bytes, bool has_condition) {
  switch (bytes) {
    case 4:
      return has_condition ? Intrinsic::nvvm_cp_async_ca_shared_global_4_s
                           : Intrinsic::nvvm_cp_async_ca_shared_global_4;
    case 8:
      return has_condition ? Intrinsic::nvvm_cp_async_ca_shared_global_8_s
                           : Intrinsic::nvvm_cp_async_ca_shared_global_8;
    case 16:
      return has_condition ? Intrinsic::nvvm_cp_async_cg_shared_global_16_s
                           : Intrinsic::nvvm_cp_async_cg_shared_global_16;
    default:
      return Intrinsic::not_intrinsic;
  }
}

}  // namespace

bool LaunchEmitter::EmitCopy(const loop::Stmt& s) {
  const std::optional<Copied> copied = CopiedBy(*s);
  if (!copied || vector_.mask) return false;
  const uint64_t bytes = static_cast<uint64_t>(vector_.lanes) * SizeBytes(s->buffer->dtype);
  const Intrinsic::ID id = CopyOf(bytes, static_cast<bool>(copied->condition));
  if (id == Intrinsic::not_intrinsic) return false;
  Value* size = nullptr;
  if (copied->condition) {
    Value* const condition = EmitExpr(copied->condition);
    if (LanesOf(condition) > 1) return false;
    size = b_.CreateSelect(condition, b_.getInt32(bytes), b_.getInt32(0));
  }
  const Address from = Locate(copied->load->buffer, copied->load->operands);
  const Address to = Locate(s->buffer, s->indices);
  if (!status_.ok()) return true;
  for (const Address* address : {&from, &to}) {
    const bool are_neighbours = vector_.lanes == 1
                                    ? address->reach == Reach::kUniform
                                    : address->reach == Reach::kRamp && address->stride == 1;
    if (!are_neighbours || address->align < llvm::Align(bytes)) return false;
  }
  Value* const source =
      b_.CreateAddrSpaceCast(from.pointer, llvm::PointerType::get(context_, kGlobalSpace));
  std::vector<Value*> arguments = {to.pointer, source};
  if (size != nullptr) arguments.push_back(size);
  b_.CreateIntrinsic(id, {}, arguments);
  return true;
}

void LaunchEmitter::EmitCommit() {
  if (copied_.empty()) return;
  b_.CreateIntrinsic(Intrinsic::nvvm_cp_async_commit_group, {}, {});
}

void LaunchEmitter::EmitBarrier(int pending) {
  // Without a kernel's blocks one thread has an index of the grid for itself.
  if (scratch_ != nullptr) return;
  if (!copied_.empty()) {
    const auto groups = static_cast<uint32_t>(pending);
    b_.CreateIntrinsic(Intrinsic::nvvm_cp_async_wait_group, {}, {b_.getInt32(groups)});
  }
  b_.CreateIntrinsic(Intrinsic::nvvm_barrier0, {}, {});
  BeginStatement();
}

}  // namespace hone::codegen
