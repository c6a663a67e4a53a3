// The extremes of indices over the loops of a part of a nest.
#include "compiler/schedule/primitives/region.h"

#include <gtest/gtest.h>

#include "compiler/loop/simplify.h"

namespace hone::schedule {
namespace {

using loop::BinaryOp;
using loop::Bounds;
using loop::Expr;
using loop::Linear;

TEST(Extreme, TermsCancelThoseOfTheBranchesOfAMinimum) {
  const Expr o = loop::Var("o");
  const Expr i = loop::Var("i");
  Bounds bounds({{o, {0, 2}}, {i, {0, 3}}});
  // o * 4 + min(i, 9 - o * 4): at most min(o * 4 + 3, 9).
  const Expr index = o * 4 + loop::Binary(BinaryOp::kMin, i, Expr(9) - o * 4);
  const auto high = Extreme(Linear::Of(index), bounds, 1, /*largest=*/true);
  ASSERT_TRUE(high.has_value());
  EXPECT_EQ(BoundsOf(*high, bounds).max, 9);
  const auto low = Extreme(Linear::Of(index), bounds, 1, /*largest=*/false);
  ASSERT_TRUE(low.has_value());
  EXPECT_EQ(BoundsOf(*low, bounds).min, 0);
}

// Each choice doubles the ways: without an end, forty would take days.
TEST(Extreme, GivesUpOnMoreChoicesThanItCanFollow) {
  const Expr i = loop::Var("i");
  const Bounds bounds({{i, {0, 99}}});
  Linear sum;
  for (int64_t k = 0; k < 40; ++k) {
    sum.AddTerm(loop::Binary(k % 2 == 0 ? BinaryOp::kMin : BinaryOp::kMax, i * 3, Expr(k) + i), 1);
  }
  EXPECT_FALSE(Extreme(sum, bounds, 0, true).has_value());
}

}  // namespace
}  // namespace hone::schedule
