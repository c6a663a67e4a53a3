#include "compiler/loop/accumulation.h"

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

namespace {

// The load that a factor widens, or null.
Expr WidenedByte(const Expr& factor) {
  if (factor->kind != ExprKind::kCast || factor->dtype != DataType::kInt32) return Expr();
  const Expr& load = factor->operands[0];
  const bool byte = load->dtype == DataType::kInt8 || load->dtype == DataType::kUInt8;
  return load->kind == ExprKind::kLoad && byte ? load : Expr();
}

bool IsBinary(const Expr& e, BinaryOp op) {
  return e->kind == ExprKind::kBinary && e->binary_op == op;
}

}  // namespace

std::vector<Expr> SummedByteProduct(const Stmt& s, const Expr& var) {
  if (s->kind != StmtKind::kStore || s->buffer->dtype != DataType::kInt32) return {};
  if (!IsBinary(s->value, BinaryOp::kAdd) || !Accumulates(*s)) return {};
  const Expr& product = s->value->operands[1];
  if (!IsBinary(product, BinaryOp::kMul)) return {};
  for (const Expr& index : s->indices) {
    if (UsesVar(index, var)) return {};
  }
  std::vector<Expr> loads;
  for (const Expr& factor : product->operands) {
    Expr load = WidenedByte(factor);
    if (!load) return {};
    loads.push_back(std::move(load));
  }
  return loads;
}

}  // namespace hone::loop
