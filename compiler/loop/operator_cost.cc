#include "compiler/loop/operator_cost.h"

namespace hone::loop {

OperatorCost CostOfUnary(UnaryOp op) {
  switch (op) {
    case UnaryOp::kNeg:
    case UnaryOp::kNot:
    case UnaryOp::kAbs:
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kRound:
    case UnaryOp::kIsNan:
    case UnaryOp::kIsInf:
    case UnaryOp::kSign:
      return OperatorCost::kCheap;
    case UnaryOp::kSqrt:
    case UnaryOp::kRsqrt:
      return OperatorCost::kDivision;
    default:
      return OperatorCost::kFunction;
  }
}

OperatorCost CostOfBinary(BinaryOp op) {
  switch (op) {
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      return OperatorCost::kDivision;
    case BinaryOp::kFloorMod:
    case BinaryOp::kMod:
    case BinaryOp::kPow:
      return OperatorCost::kFunction;
    default:
      return OperatorCost::kCheap;
  }
}

OperatorCost CostOfOperator(const Expr& e) {
  if (!IsFloat(e->dtype)) return OperatorCost::kCheap;
  if (e->kind == ExprKind::kUnary) return CostOfUnary(e->unary_op);
  if (e->kind == ExprKind::kBinary) return CostOfBinary(e->binary_op);
  return OperatorCost::kCheap;
}

}  // namespace hone::loop
