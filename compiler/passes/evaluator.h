// Computes constant expressions with the meaning that compiler/ops gives operators.
#ifndef HONE_COMPILER_PASSES_EVALUATOR_H_
#define HONE_COMPILER_PASSES_EVALUATOR_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// The evaluator also takes calls of primitive functions on constant tensors.
//
// It lowers a call to its naive nest and interprets that. Results of views (reshape and the like)
// share the bytes of their operand. Thread-safe.
Evaluator DefaultEvaluator();

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_EVALUATOR_H_
