// Which operators of floats take many instructions. All estimates of expressions use this list.
#ifndef HONE_COMPILER_LOOP_OPERATOR_COST_H_
#define HONE_COMPILER_LOOP_OPERATOR_COST_H_

#include "compiler/loop/expr.h"

namespace hone::loop {

enum class OperatorCost {
  kCheap,     // an instruction or two
  kDivision,  // one that takes as long as ten: divisions and roots
  kFunction   // computed in steps: exp and its kin, powers, remainders
};

OperatorCost CostOfUnary(UnaryOp op);
OperatorCost CostOfBinary(BinaryOp op);
// The cost of the node alone, without its operands. Operators of integers are cheap.
OperatorCost CostOfOperator(const Expr& e);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_OPERATOR_COST_H_
