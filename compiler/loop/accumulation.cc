#include "compiler/loop/accumulation.h"

#include <limits>
#include <utility>

#include "compiler/loop/linear.h"
#include "compiler/loop/visit.h"

namespace hone::loop {

bool Accumulates(const StmtNode& store) {
  if (store.value->kind != ExprKind::kBinary) return false;
  const Expr& accumulator = store.value->operands[0];
  if (accumulator->kind != ExprKind::kLoad || accumulator->buffer != store.buffer) return false;
  for (size_t d = 0; d < store.indices.size(); ++d) {
    if (!StructuralEqual(store.indices[d], accumulator->operands[d])) return false;
  }
  return true;
}

std::optional<double> NeutralOf(BinaryOp op, DataType dtype) {
  if (op == BinaryOp::kAdd) return IsFloat(dtype) ? -0.0 : 0;  // -0 + x is x, also of -0
  if (op == BinaryOp::kMul) return 1;
  if (dtype == DataType::kBool && op == BinaryOp::kMax) return 0;
  if (dtype == DataType::kBool && op == BinaryOp::kMin) return 1;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (op == BinaryOp::kMax) return -kInfinity;
  if (op == BinaryOp::kMin) return kInfinity;
  return std::nullopt;
}

namespace {

// What widens a load of `steps` to a lane; nullopt for anything else.
std::optional<DotFactor> WidenedLoad(const Expr& factor, int64_t steps) {
  if (factor->kind != ExprKind::kCast) return std::nullopt;
  const Expr& load = factor->operands[0];
  if (load->kind != ExprKind::kLoad || DotSteps(load->dtype) != steps) return std::nullopt;
  return DotFactor{load, Expr(), 0};
}

// (load >> 8 * var + rest) & mask, where neither the load nor the rest depends on `var`.
std::optional<DotFactor> ByteOfWord(const Expr& factor, const Expr& var) {
  constexpr int64_t kByte = 255;
  int64_t mask = 0;
  if (!IsBinary(factor, BinaryOp::kBitAnd) || !IsConstInt(factor->operands[1], &mask) || mask < 0 ||
      mask > kByte || !IsBinary(factor->operands[0], BinaryOp::kShiftRight)) {
    return std::nullopt;
  }
  const Expr& load = factor->operands[0]->operands[0];
  const Expr& shift = factor->operands[0]->operands[1];
  if (load->kind != ExprKind::kLoad || load->dtype != DataType::kInt32 || UsesVar(load, var)) {
    return std::nullopt;
  }
  const Linear linear = Linear::Of(shift->kind == ExprKind::kCast ? shift->operands[0] : shift);
  if (linear.CoefficientOf(var) != 8 || linear.constant() < 0) return std::nullopt;
  for (const Linear::Term& term : linear.terms()) {
    if (term.coefficient < 0) return std::nullopt;  // shifts to the left are none
    if (!term.atom.SameAs(var) && UsesVar(term.atom, var)) return std::nullopt;
  }
  return DotFactor{load, shift, mask};
}

}  // namespace

int64_t DotSteps(DataType factor) {
  switch (factor) {
    case DataType::kInt8:
    case DataType::kUInt8:
      return 4;
    case DataType::kBFloat16:
      return 2;
    default:
      return 1;
  }
}

std::vector<DotFactor> DotFactorsOf(const Stmt& s, const Expr& var) {
  if (s->kind != StmtKind::kStore) return {};
  const DataType sums = s->buffer->dtype;
  if (sums != DataType::kInt32 && sums != DataType::kFloat32) return {};
  const int64_t steps = sums == DataType::kInt32 ? 4 : 2;
  if (!IsBinary(s->value, BinaryOp::kAdd) || !Accumulates(*s)) return {};
  const Expr& product = s->value->operands[1];
  if (!IsBinary(product, BinaryOp::kMul)) return {};
  for (const Expr& index : s->indices) {
    if (UsesVar(index, var)) return {};
  }
  std::vector<DotFactor> factors;
  for (const Expr& operand : product->operands) {
    std::optional<DotFactor> factor = WidenedLoad(operand, steps);
    if (!factor && sums == DataType::kInt32) factor = ByteOfWord(operand, var);
    if (!factor) return {};
    factors.push_back(*std::move(factor));
  }
  return factors;
}

std::vector<Expr> SummedDotFactors(const Stmt& s, const Expr& var) {
  std::vector<Expr> loads;
  for (const DotFactor& factor : DotFactorsOf(s, var)) {
    if (factor.shift) return {};
    loads.push_back(factor.load);
  }
  return loads;
}

std::vector<Expr> SummedFloat16Factors(const Stmt& s) {
  if (s->kind != StmtKind::kStore || s->buffer->dtype != DataType::kFloat32 ||
      !IsBinary(s->value, BinaryOp::kAdd) || !Accumulates(*s) ||
      !IsBinary(s->value->operands[1], BinaryOp::kMul)) {
    return {};
  }
  std::vector<Expr> loads;
  for (const Expr& factor : s->value->operands[1]->operands) {
    if (factor->kind != ExprKind::kCast) return {};
    const Expr& load = factor->operands[0];
    if (load->kind != ExprKind::kLoad || load->dtype != DataType::kFloat16) return {};
    loads.push_back(load);
  }
  return loads;
}

}  // namespace hone::loop
