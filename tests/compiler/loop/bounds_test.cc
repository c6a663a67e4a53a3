#include "compiler/loop/bounds.h"

#include "compiler/loop/simplify.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/compiler/loop/random_index.h"

namespace hone::loop {
namespace {

Stmt Loop(const Expr& var, const Expr& min, const Expr& extent) {
  return For(var, min, extent, Seq({}));
}

TEST(Bounds, ClippedTilesStayInside) {
  Bounds bounds;
  bounds.PushLoop(*Loop(kO, 0, 3));
  bounds.PushLoop(*Loop(kI, 0, Min(4, 10 - kO * 4)));
  EXPECT_EQ(BoundsOf(kO * 4 + kI, bounds), (Interval{0, 9}));
  EXPECT_EQ(Decide(Lt(kO * 4 + kI, 10), bounds), true);
  EXPECT_EQ(Decide(Lt(kO * 4 + kI, 9), bounds), std::nullopt);
  EXPECT_EQ(ToText(Simplify(Min(kO * 4 + kI, 9), bounds)), "o * 4 + i");
}

// Rows of 57 in blocks of 9, tiles of 3: their number in a block is a quotient of a minimum.
TEST(Bounds, TilesOfClippedBlocksStayInside) {
  Bounds bounds;
  bounds.PushLoop(*Loop(kO, 0, 7));
  bounds.PushLoop(*Loop(kI, 0, FloorDiv(Min(9, 57 - kO * 9), 3)));
  bounds.PushLoop(*Loop(kU, 0, 3));
  EXPECT_EQ(BoundsOf(kO * 9 + kI * 3 + kU, bounds), (Interval{0, 56}));
  EXPECT_EQ(Decide(Lt(kO * 9 + kI * 3 + kU, 56), bounds), std::nullopt);
}

TEST(Bounds, ConditionsOnSeveralVariablesHold) {
  Bounds bounds = {{kO, {0, 7}}, {kI, {0, 7}}};
  bounds.Assume(And(Lt(kO * 2 + kI, 12), Ge(kI, kO)));
  EXPECT_EQ(BoundsOf(kO * 2 + kI + 1, bounds), (Interval{1, 12}));
  EXPECT_EQ(Decide(Le(kO, kI), bounds), true);
  EXPECT_EQ(Decide(Lt(kI, kO), bounds), false);
  bounds.Assume(Lt(kI, 3), false);
  EXPECT_EQ(BoundsOf(kI, bounds), (Interval{3, 7}));
}

TEST(Bounds, AnInequalityCutsOffAnEndOfTheRange) {
  Bounds bounds = {{kO, {0, 3}}, {kI, {0, 1}}};
  bounds.Assume(Eq(kO, 3), false);
  EXPECT_EQ(BoundsOf(kO * 2 + kI, bounds), (Interval{0, 5}));
  bounds.Assume(Eq(kO, 1), false);
  EXPECT_EQ(BoundsOf(kO, bounds), (Interval{0, 2})) << "1 is no end of it";
  bounds.Assume(Eq(kO + kI, 0), false);
  EXPECT_EQ(BoundsOf(kO + kI, bounds), (Interval{1, 3}));
}

TEST(Bounds, NothingIsLearnedOfMemoryThatMayChange) {
  const Expr written = Load(MakeBuffer("w", DataType::kInt64, {4}), {0});
  const Expr input = Load(MakeBuffer("n", DataType::kInt64, {4}, Role::kInput), {0});
  Bounds bounds;
  bounds.Assume(And(Lt(written, 4), Lt(input, 4)));
  EXPECT_EQ(BoundsOf(written, bounds), Interval());
  bounds.PushLoop(*Loop(kI, 0, written));
  EXPECT_EQ(Decide(Lt(kI, written), bounds), std::nullopt);
  bounds.PushLoop(*Loop(kO, 0, input));
  EXPECT_EQ(Decide(Lt(kO, input), bounds), true);
}

TEST(Bounds, AVariableBoundTwiceKeepsNoOldRelations) {
  Bounds bounds;
  bounds.PushLoop(*Loop(kO, 0, 8));
  bounds.PushLoop(*Loop(kI, 0, kO + 1));
  EXPECT_EQ(Decide(Le(kI, kO), bounds), true);
  bounds.PushLoop(*Loop(kO, 0, 8));
  EXPECT_EQ(Decide(Le(kI, kO), bounds), std::nullopt);
}

TEST(Bounds, AVariableBoundTwiceHasTheLimitsOfItsInnerLoopOnly) {
  Bounds bounds;
  bounds.PushLoop(*Loop(kI, 0, 8));
  bounds.PushLoop(*Loop(kO, 0, kI + 1));
  bounds.PushLoop(*Loop(kO, 0, 20));
  bounds.PushLoop(*Loop(kU, 0, kI + 1));
  EXPECT_EQ(Decide(Le(kO + kU, kI * 2), bounds), std::nullopt);
}

TEST(Bounds, ValuesBeyondTheLimitsAreUnbounded) {
  const Bounds bounds = {{kI, {0, Interval::kInfinity - 1}}};
  const Interval range = BoundsOf(kI * 8 - Expr(Interval::kInfinity), bounds);
  EXPECT_FALSE(range.HasMax());
  EXPECT_EQ(Decide(Lt(kI * 8, Expr(Interval::kInfinity)), bounds), std::nullopt);
  EXPECT_EQ(BoundsOf(kU, bounds), Interval());
}

// ---- the properties, against all values of random loops under a random condition ----

struct Point {
  Bounds bounds;
  std::vector<Expr> vars;
  std::vector<VarMap> values;  // every one that reaches the point
};

// Loops whose extents and starts depend on those around them, clipped and shifted.
Point RandomPoint(Random& random) {
  Point point;
  point.values = {{}};
  for (int depth = 0; depth < 3; ++depth) {
    const bool dependent = depth > 0 && random.Below(2) == 0;
    const Expr min = dependent ? RandomIndex(random, point.vars, 1)
                               : Expr(static_cast<int64_t>(random.Below(7)) - 3);
    Expr extent = static_cast<int64_t>(1 + random.Below(5));
    if (depth > 0 && random.Below(2) == 0) {
      extent = Min(extent, RandomIndex(random, point.vars, 2));
    }
    const Expr var = Var("v" + std::to_string(depth));
    point.bounds.PushLoop(*Loop(var, min, extent));
    std::vector<VarMap> inside;
    for (const VarMap& outer : point.values) {
      const int64_t start = Evaluate(min, outer);
      const int64_t end = start + Evaluate(extent, outer);
      for (int64_t value = start; value < end; ++value) {
        inside.push_back(outer);
        inside.back()[var.get()] = Expr(value);
      }
    }
    point.values = std::move(inside);
    point.vars.push_back(var);
  }
  if (random.Below(2) == 0) {
    const Expr condition = RandomCondition(random, point.vars, 2);
    const bool truth = random.Below(2) == 0;
    point.bounds.Assume(condition, truth);
    std::erase_if(point.values, [&](const VarMap& v) { return Evaluate(condition, v) != truth; });
  }
  return point;
}

RC_GTEST_PROP(BoundsProperty, HoldForEveryValue, (uint64_t seed)) {
  Random random(seed);
  const Point point = RandomPoint(random);
  const Expr e = RandomIndex(random, point.vars, 3);
  const Expr condition = RandomCondition(random, point.vars, 3);
  const Expr simple = Simplify(e, point.bounds);
  const Interval range = BoundsOf(e, point.bounds);
  const Interval tight = BoundsOf(simple, point.bounds);
  const std::optional<bool> decided = Decide(Simplify(condition, point.bounds), point.bounds);
  for (const VarMap& values : point.values) {
    const int64_t value = Evaluate(e, values);
    if (Evaluate(simple, values) != value) RC_FAIL(ToText(e) + "  became  " + ToText(simple));
    if (value < range.min || value > range.max) RC_FAIL(ToText(e) + " is not in its bounds");
    if (value < tight.min || value > tight.max) RC_FAIL(ToText(simple) + " is not in its bounds");
    if (decided && *decided != (Evaluate(condition, values) != 0)) RC_FAIL(ToText(condition));
  }
  RC_CLASSIFY(decided.has_value(), "decided");
  RC_CLASSIFY(!point.values.empty(), "reached");
}

}  // namespace
}  // namespace hone::loop
