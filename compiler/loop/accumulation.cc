#include "compiler/loop/accumulation.h"

#include <limits>
#include <utility>

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

// The load of `steps` to a lane that a factor widens, or null.
Expr WidenedLoad(const Expr& factor, int64_t steps) {
  if (factor->kind != ExprKind::kCast) return Expr();
  const Expr& load = factor->operands[0];
  return load->kind == ExprKind::kLoad && DotSteps(load->dtype) == steps ? load : Expr();
}

bool IsBinary(const Expr& e, BinaryOp op) {
  return e->kind == ExprKind::kBinary && e->binary_op == op;
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

std::vector<Expr> SummedDotFactors(const Stmt& s, const Expr& var) {
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
  std::vector<Expr> loads;
  for (const Expr& factor : product->operands) {
    Expr load = WidenedLoad(factor, steps);
    if (!load) return {};
    loads.push_back(std::move(load));
  }
  return loads;
}

}  // namespace hone::loop
