// Copies from global to shared memory that threads begin and do not wait for, and what waits for
// them (PTX ISA, "cp.async").
#include <algorithm>
#include <vector>

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

// What is copied: an element of a global buffer, or zero where one of the conditions is false.
struct Copied {
  Expr load;
  std::vector<Expr> conditions;
};

std::optional<Copied> CopiedBy(const loop::StmtNode& store) {
  Copied copied{.load = store.value, .conditions = {}};
  while (copied.load->kind == ExprKind::kSelect) {
    const Expr select = copied.load;
    if (!loop::IsZero(select->operands[2])) return std::nullopt;
    copied.conditions.push_back(select->operands[0]);
    copied.load = select->operands[1];
  }
  const Expr& load = copied.load;
  if (load->kind != ExprKind::kLoad || load->buffer->scope != loop::Scope::kGlobal ||
      load->dtype != store.buffer->dtype) {
    return std::nullopt;
  }
  // The address is computed where the conditions are false, too, and all of them are evaluated.
  const auto has_load = [](const Expr& e) { return loop::HasLoad(e); };
  const bool is_guarded = !copied.conditions.empty();
  if (is_guarded && (std::ranges::any_of(load->operands, has_load) ||
                     std::ranges::any_of(copied.conditions, has_load))) {
    return std::nullopt;
  }
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
  const bool is_guarded = !copied->conditions.empty();
  const Intrinsic::ID id = CopyOf(bytes, is_guarded);
  if (id == Intrinsic::not_intrinsic) return false;
  Value* is_there = b_.getTrue();
  for (const Expr& condition : copied->conditions) {
    Value* const value = EmitExpr(condition);
    if (LanesOf(value) > 1) return false;
    is_there = b_.CreateAnd(is_there, value);
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
  if (is_guarded) {
    arguments.push_back(b_.CreateSelect(is_there, b_.getInt32(bytes), b_.getInt32(0)));
  }
  b_.CreateIntrinsic(id, {}, arguments);
  return true;
}

void LaunchEmitter::EmitCommit() {
  if (launch_->copied.empty()) return;
  b_.CreateIntrinsic(Intrinsic::nvvm_cp_async_commit_group, {}, {});
}

void LaunchEmitter::EmitBarrier(int pending) {
  // Without a kernel's blocks one thread has an index of the grid for itself.
  if (scratch_ != nullptr) return;
  if (!launch_->copied.empty()) {
    const auto groups = static_cast<uint32_t>(pending);
    b_.CreateIntrinsic(Intrinsic::nvvm_cp_async_wait_group, {}, {b_.getInt32(groups)});
  }
  EmitWarpgroupFence();
  b_.CreateIntrinsic(Intrinsic::nvvm_barrier0, {}, {});
  BeginStatement();
}

}  // namespace hone::codegen
