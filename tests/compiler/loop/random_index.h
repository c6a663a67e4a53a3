// Random index expressions for property tests.
#ifndef HONE_TESTS_COMPILER_LOOP_RANDOM_INDEX_H_
#define HONE_TESTS_COMPILER_LOOP_RANDOM_INDEX_H_

#include <vector>

#include "compiler/loop/visit.h"
#include "support/random.h"

namespace hone::loop {

// Variables of indices.
inline const Expr kO = Var("o");
inline const Expr kI = Var("i");
inline const Expr kU = Var("u");

// Sums, products with constants, quotients, remainders, minima, maxima and selects.
Expr RandomIndex(Random& random, const std::vector<Expr>& vars, int depth);
Expr RandomCondition(Random& random, const std::vector<Expr>& vars, int depth);

// EXPECTs a value for every variable.
int64_t Evaluate(const Expr& e, const VarMap& values);

}  // namespace hone::loop

#endif  // HONE_TESTS_COMPILER_LOOP_RANDOM_INDEX_H_
