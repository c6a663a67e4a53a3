#include "tests/compiler/loop/random_index.h"

#include "compiler/loop/visit.h"
#include "gtest/gtest.h"

namespace hone::loop {

Expr RandomCondition(Random& random, const std::vector<Expr>& vars, int depth) {
  const BinaryOp comparisons[] = {BinaryOp::kLt, BinaryOp::kLe, BinaryOp::kGt,
                                  BinaryOp::kGe, BinaryOp::kEq, BinaryOp::kNe};
  if (depth > 0 && random.Below(4) == 0) {
    const Expr a = RandomCondition(random, vars, depth - 1);
    const Expr b = RandomCondition(random, vars, depth - 1);
    return random.Below(3) == 0 ? Unary(UnaryOp::kNot, a) : random.Below(2) ? And(a, b) : Or(a, b);
  }
  return Binary(comparisons[random.Below(6)], RandomIndex(random, vars, depth - 1),
                RandomIndex(random, vars, depth - 1));
}

Expr RandomIndex(Random& random, const std::vector<Expr>& vars, int depth) {
  const int64_t constants[] = {-3, 0, 1, 2, 4, 7, 8, 16, 32, 48};
  if (depth <= 0) {
    return random.Below(4) == 0 ? Expr(constants[random.Below(10)])
                                : vars[random.Below(vars.size())];
  }
  const Expr a = RandomIndex(random, vars, depth - 1);
  const int64_t divisors[] = {2, 3, 4, 8, 16, 32};
  switch (random.Below(12)) {
    case 0:
    case 1:
    case 2:
      return a + RandomIndex(random, vars, depth - 1);
    case 3:
      return a - RandomIndex(random, vars, depth - 1);
    case 4:
    case 5:
      return a * Expr(constants[random.Below(10)]);
    case 6:
    case 7:
      return FloorDiv(a, Expr(divisors[random.Below(6)]));
    case 8:
    case 9:
      return FloorMod(a, Expr(divisors[random.Below(6)]));
    case 10:
      return Binary(random.Below(2) ? BinaryOp::kDiv : BinaryOp::kMod, a,
                    Expr(divisors[random.Below(6)]));
    default:
      if (random.Below(3)) {
        return Binary(random.Below(2) ? BinaryOp::kMin : BinaryOp::kMax, a,
                      RandomIndex(random, vars, depth - 1));
      }
      return Select(RandomCondition(random, vars, depth - 1), a,
                    RandomIndex(random, vars, depth - 1));
  }
}

int64_t Evaluate(const Expr& e, const VarMap& values) {
  const Expr result = Substitute(e, values);  // folds to a constant
  int64_t value = 0;
  EXPECT_TRUE(IsConstInt(result, &value)) << ToText(result);
  return value;
}

}  // namespace hone::loop
