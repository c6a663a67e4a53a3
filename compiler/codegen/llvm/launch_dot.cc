// Loops marked as dot products.
#include "compiler/codegen/llvm/dot_product.h"
#include "compiler/codegen/llvm/launch_emitter.h"

namespace hone::codegen {

using llvm::Value;
using loop::Expr;

// The neighbours that fill 32 bits from where `load` is in the first step: one number for all
// lanes, or one a lane where these lie one after the other. Null where it is otherwise.
llvm::Value* LaunchEmitter::LoadPacked(const loop::Stmt& s, const Index& min, const Expr& load) {
  const Storage* storage = FindStorage(load->buffer);
  if (!storage || storage->copies != 1) return nullptr;
  std::optional<Index> first;
  const int64_t steps = loop::DotSteps(load->dtype);
  for (int64_t k = 0; k < steps; ++k) {
    vars_[s->var.get()] = IndexMath::Sum(min, IndexMath::Constant(k));
    BeginStatement();
    std::optional<Index> offset =
        OffsetOf(load->buffer, load->operands, *storage, /*speculative=*/true);
    if (!offset) return nullptr;
    if (!first)
      first = std::move(offset);
    else if (const Index step = IndexMath::Sum(*offset, *first, -1);
             !step.IsConstant() || step.constant != k)
      return nullptr;
  }
  vars_[s->var.get()] = min;
  BeginStatement();
  const Address address = Locate(load->buffer, load->operands);
  llvm::Type* type = b_.getInt32Ty();
  if (address.reach == Reach::kRamp && address.stride == steps) {
    type = Widen(type, vector_.lanes);
  } else if (address.reach != Reach::kUniform) {
    return nullptr;
  }
  return Annotate(b_.CreateAlignedLoad(type, address.pointer, address.align), *storage, true);
}

// Parts of the bytes of an int32, all four of them, in the first step's place. A shift of that one
// brings each other to its place too, the sign into the last as in the definition.
Value* LaunchEmitter::PackedBytesOf(const loop::DotFactor& factor) {
  constexpr uint32_t kEachByte = 0x01010101;
  Value* shifted = EmitExpr(loop::Binary(loop::BinaryOp::kShiftRight, factor.load, factor.shift));
  Value* mask = b_.getInt32(static_cast<uint32_t>(factor.mask) * kEachByte);
  return b_.CreateAnd(shifted, Splat(b_, mask, LanesOf(shifted)));
}

// False where the loop has another form, or its lanes cannot go together; nothing of use was
// emitted then.
bool LaunchEmitter::EmitDot(const loop::Stmt& s, const Index& min, int64_t steps) {
  const loop::Stmt& store = s->body[0];
  const std::vector<loop::DotFactor> dot = loop::DotFactorsOf(store, s->var);
  const int64_t own_steps = store->buffer->dtype == DataType::kInt32 ? 4 : 2;
  if (vector_.mask || dot.empty() || own_steps != steps) return false;
  PackedFactor factors[2];
  for (size_t i = 0; i < 2; ++i) {
    if (dot[i].shift) continue;
    factors[i] = {LoadPacked(s, min, dot[i].load), dot[i].load->dtype};
    if (!factors[i].value) return false;
  }
  vars_[s->var.get()] = min;
  BeginStatement();
  for (size_t i = 0; i < 2; ++i) {
    if (dot[i].shift) factors[i] = {PackedBytesOf(dot[i]), DataType::kUInt8};
  }
  Value* sum = Splat(b_, EmitExpr(store->value->operands[0]), vector_.lanes);
  Value* result = EmitDotProduct(b_, sum, factors[0], factors[1], traits_);
  StoreLanes(Locate(store->buffer, store->indices), result);
  return true;
}

}  // namespace hone::codegen
