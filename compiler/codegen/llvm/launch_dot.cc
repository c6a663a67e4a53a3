// Loops marked as dot products.
#include "compiler/codegen/llvm/dot_product.h"
#include "compiler/codegen/llvm/launch_emitter.h"

namespace hone::codegen {

using llvm::Value;
using loop::Expr;

// The neighbours that fill 32 bits from where `load` is in the first step: one number for all
// lanes, or one a lane.
llvm::Value* LaunchEmitter::LoadPacked(const loop::Expr& load) {
  const Address address = Locate(load->buffer, load->operands);
  if (!status_.ok()) return llvm::PoisonValue::get(b_.getInt32Ty());
  llvm::Type* const lanes = Widen(b_.getInt32Ty(), vector_.lanes);
  llvm::Instruction* packed = nullptr;
  if (address.reach == Reach::kUniform) {
    packed = b_.CreateAlignedLoad(b_.getInt32Ty(), address.pointer, address.align);
  } else if (address.reach == Reach::kRamp && address.stride == loop::DotSteps(load->dtype)) {
    packed = b_.CreateAlignedLoad(lanes, address.pointer, address.align);
  } else {
    packed = b_.CreateMaskedGather(lanes, LanePointers(address), AlignOfElement(address.element));
  }
  return Annotate(packed, *address.storage, true);
}

// Parts of the bytes of an int32, all four of them, in the first step's place. A shift of that one
// brings each other to its place too, the sign into the last as in the definition.
Value* LaunchEmitter::PackedBytesOf(const loop::DotFactor& factor) {
  constexpr uint32_t kEachByte = 0x01010101;
  Value* shifted = EmitExpr(loop::Binary(loop::BinaryOp::kShiftRight, factor.load, factor.shift));
  Value* mask = b_.getInt32(static_cast<uint32_t>(factor.mask) * kEachByte);
  return b_.CreateAnd(shifted, Splat(b_, mask, LanesOf(shifted)));
}

void LaunchEmitter::EmitDot(const loop::Stmt& s, const Index& min) {
  const loop::Stmt& store = s->body[0];
  vars_[s->var.get()] = min;
  BeginStatement();
  std::vector<PackedFactor> factors;
  for (const loop::DotFactor& factor : loop::DotFactorsOf(store, s->var)) {
    factors.push_back(factor.shift ? PackedFactor{PackedBytesOf(factor), DataType::kUInt8}
                                   : PackedFactor{LoadPacked(factor.load), factor.load->dtype});
  }
  Value* sum = Splat(b_, EmitExpr(store->value->operands[0]), vector_.lanes);
  Value* result = EmitDotProduct(b_, sum, factors[0], factors[1], traits_);
  const Address address = Locate(store->buffer, store->indices);
  if (status_.ok()) StoreLanes(address, result);
}

}  // namespace hone::codegen
