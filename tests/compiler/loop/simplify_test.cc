#include "compiler/loop/simplify.h"

#include "compiler/loop/visit.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "support/random.h"
#include "tests/compiler/loop/random_index.h"

namespace hone::loop {
namespace {

const Expr kM = Var("m");  // 0..2
const Expr kX = Var("x");  // -8..100

// kU has none.
Bounds TestBounds() { return {{kO, {0, 3}}, {kM, {0, 1}}, {kI, {0, 15}}, {kX, {-8, 100}}}; }

std::string Simple(const Expr& e) { return ToText(Simplify(e, TestBounds())); }

TEST(Simplify, TakesSplitsApart) {
  EXPECT_EQ(Simple(FloorDiv(kO * 16 + kI, 16)), "o");
  EXPECT_EQ(Simple(FloorMod(kO * 16 + kI, 16)), "i");
  EXPECT_EQ(Simple(FloorDiv(kO * 32 + kM * 16 + kI, 16)), "o * 2 + m");
  EXPECT_EQ(Simple(FloorMod(kO * 32 + kM * 16 + kI, 32)), "m * 16 + i");
  EXPECT_EQ(Simple(FloorDiv(kO * 32 + kM * 16 + kI, 32)), "o");
  EXPECT_EQ(Simple(FloorDiv(kX * 8 + kM, 16)), "floordiv(x, 2)");
  EXPECT_EQ(Simple(FloorMod(kX * 8 + kM, 16)), "m + floormod(x, 2) * 8");
}

TEST(Simplify, NestsAndRejoinsQuotients) {
  EXPECT_EQ(Simple(FloorDiv(FloorDiv(kU, 4), 8)), "floordiv(u, 32)");
  EXPECT_EQ(Simple(FloorMod(FloorMod(kU, 32), 8)), "floormod(u, 8)");
  EXPECT_EQ(Simple(FloorDiv(kU, 16) * 16 + FloorMod(kU, 16)), "u");
  EXPECT_EQ(Simple(FloorDiv(kU + 35, 16)), "floordiv(u + 3, 16) + 2");
  // The remainder of 32 x is that of 4 x.
  EXPECT_EQ(Simple(FloorDiv(kX * 32 + kI, 28) * 28 + FloorMod(kX * 32 + kI, 28)), "x * 32 + i");
  EXPECT_EQ(Simple(FloorDiv(kX * 32 + kI, 28) * 56 + FloorMod(kX * 32 + kI, 28)),
            "floordiv(x * 32 + i, 28) * 56 + floormod(x * 4 + i, 28)");
}

TEST(Simplify, DecidesByRanges) {
  EXPECT_EQ(Simple(Lt(kO * 16 + kI, 64)), "true");
  EXPECT_EQ(Simple(Lt(kO * 16 + kI, 60)), "o * 16 + i < 60");
  EXPECT_EQ(Simple(And(Ge(kI, 0), Lt(kX, kU))), "x < u");
  EXPECT_EQ(Simple(Min(kI + kU, kU + 15)), "i + u");
  EXPECT_EQ(Simple(Select(Lt(kI, 0), kU, kX)), "x");
  EXPECT_EQ(Simple(kX + kU - kX), "u");
}

// What a vector's lanes cannot change is no condition of lanes.
TEST(Simplify, ComparesWithoutWhatDecidesNothing) {
  EXPECT_EQ(Simple(Lt(kO * 16 + kI, 32)), "o < 2");
  EXPECT_EQ(Simple(Ge(kO * 16 + kI, 32)), "o >= 2");
  EXPECT_EQ(Simple(Lt(kU * 32 + kM * 16 + kI, 64)), "u < 2");
  EXPECT_EQ(Simple(Le(kU * 16 + kI, 31)), "u < 2");
  EXPECT_EQ(Simple(Binary(BinaryOp::kGt, kU * 16 + kI, 31)), "u >= 2");
  EXPECT_EQ(Simple(Le(kU * 16 + kI, 32)), "u * 16 + i <= 32");
}

RC_GTEST_PROP(SimplifyProperty, KeepsComparisons, (uint64_t seed)) {
  Random random(seed);
  const Expr a = kX * static_cast<int64_t>(random.Below(64)) + kO * 16 + kI + kU;
  const BinaryOp ops[] = {BinaryOp::kLt, BinaryOp::kLe, BinaryOp::kGt, BinaryOp::kGe};
  const Expr e = Binary(ops[random.Below(4)], a * static_cast<int64_t>(random.Below(8)),
                        kU * 64 + static_cast<int64_t>(random.Below(400)) - 200);
  const Expr simple = Simplify(e, TestBounds());
  for (int trial = 0; trial < 16; ++trial) {
    const VarMap values = {
        {kO.get(), static_cast<int64_t>(random.Below(4))},
        {kI.get(), static_cast<int64_t>(random.Below(16))},
        {kX.get(), static_cast<int64_t>(random.Below(109)) - 8},
        {kU.get(), static_cast<int64_t>(random.Below(40)) - 20},
    };
    if (Evaluate(e, values) != Evaluate(simple, values)) {
      RC_FAIL(ToText(e) + "  became  " + ToText(simple));
    }
  }
}

TEST(Simplify, FindsOffsetsOfBlockedLayouts) {
  auto node = std::make_shared<BufferNode>();
  node->shape = {1, 64, 56, 56};
  node->layout = *Layout::Parse("NCHW16c", 4);
  const Expr h = Var("h");
  const Expr w = Var("w");
  EXPECT_EQ(ToText(PhysicalOffset(*node, {0, kO * 16 + kI, h, w}, TestBounds())),
            "i + w * 16 + h * 896 + o * 50176");
}

TEST(Simplify, DropsWhatDoesNotRunAndSubstitutesSingleIterations) {
  const Buffer b = MakeBuffer("b", DataType::kInt64, {64});
  const Expr i = Var("i");
  const Expr j = Var("j");
  const Expr n = Var("n");
  const Stmt inner = If(Lt(i * 4 + j, 64), Store(b, {i * 4 + j}, n), Store(b, {0}, n));
  const Stmt s = For(i, 0, 16, For(n, 2, 1, For(j, 0, 4, inner)));
  EXPECT_EQ(ToText(Simplify(s)),
            "for i in 0..16 {\n  for j in 0..4 {\n    %b[i * 4 + j] = 2\n  }\n}\n");
  EXPECT_EQ(ToText(Simplify(For(i, 0, 0, inner))), "");
  const Stmt kept = For(i, 0, 16, Store(b, {i}, i));
  EXPECT_EQ(Simplify(kept), kept) << "what is simple comes back as the same node";
}

// The grid and its threads: a launch does nothing outside of them.
TEST(Simplify, KeepsTheGridOfOneIterationAndItsThread) {
  const Buffer x = MakeBuffer("x", DataType::kFloat32, {1}, Role::kOutput);
  const Stmt store = Store(x, {Expr(0)}, FloatConst(1, DataType::kFloat32));
  for (const LoopKind kind : {LoopKind::kParallel, LoopKind::kThread}) {
    const Stmt loop = For(Var("t"), 0, 1, store, kind);
    EXPECT_EQ(Simplify(loop), loop);
  }
  EXPECT_EQ(Simplify(For(Var("t"), 0, 1, store)), store);
}

TEST(Simplify, KeepsSingleIterationsWhoseStartIsLoaded) {
  const Buffer b = MakeBuffer("b", DataType::kInt64, {2});
  const Expr i = Var("i");
  const Stmt s = For(i, Load(b, {0}), 1, Seq({Store(b, {0}, i + 1), Store(b, {1}, i)}));
  EXPECT_EQ(Simplify(s), s);
}

TEST(Simplify, UsesConditionsInTheirBranches) {
  const Buffer b = MakeBuffer("b", DataType::kInt64, {64});
  const Expr i = Var("i");
  const Stmt s = For(i, 0, 64, If(Lt(i, 16), Store(b, {i}, FloorDiv(i, 16)), Store(b, {i}, 1)));
  EXPECT_EQ(ToText(Simplify(s)),
            "for i in 0..64 {\n  if i < 16 {\n    %b[i] = 0\n  } else {\n    %b[i] = 1\n  }\n}\n");
}

// ---- the property: simplifying keeps the value ----

RC_GTEST_PROP(SimplifyProperty, KeepsValuesAndBoundsHold, (uint64_t seed)) {
  Random random(seed);
  const Expr e = RandomIndex(random, {kO, kM, kI, kX, kU}, 4);
  const Bounds bounds = TestBounds();
  const Expr simple = Simplify(e, bounds);
  const Interval range = BoundsOf(e, bounds);
  for (int trial = 0; trial < 8; ++trial) {
    VarMap values;
    for (const auto& [var, interval, min, max, is_lane] : bounds.variables()) {
      values[var.get()] =
          interval.min + static_cast<int64_t>(
                             random.Below(static_cast<uint64_t>(interval.max - interval.min + 1)));
    }
    values[kU.get()] = static_cast<int64_t>(random.Below(1000)) - 500;
    const int64_t expected = Evaluate(e, values);
    if (Evaluate(simple, values) != expected) {
      RC_FAIL(ToText(e) + "  became  " + ToText(simple));
    }
    RC_ASSERT(range.min <= expected && expected <= range.max);
  }
}

// k d (y floordiv d) + k (x floormod d), where the two are the parts of one number, and where they
// are nearly so: another factor, another divisor, a difference that is no multiple of it.
RC_GTEST_PROP(SimplifyProperty, KeepsQuotientsBesideRemainders, (uint64_t seed)) {
  Random random(seed);
  const auto below = [&](uint64_t end) { return static_cast<int64_t>(random.Below(end)); };
  const int64_t divisors[] = {2, 3, 7, 16, 28, 30};
  const int64_t d = divisors[below(6)];
  const int64_t k = below(9) - 4;
  const Expr x = kX * below(40) + kO * 16 + kI * (below(3) - 1) + kU * below(3);
  const Expr y = x + d * (below(5) - 2) + (below(4) == 0 ? 1 : 0);
  const int64_t factor = k * d + (below(4) == 0 ? 1 : 0);
  const int64_t modulus = below(4) == 0 ? divisors[below(6)] : d;
  const Expr e = FloorDiv(y, d) * factor + FloorMod(x, modulus) * k + kM * 16;
  const Expr simple = Simplify(e, TestBounds());
  for (int trial = 0; trial < 16; ++trial) {
    const VarMap values = {{kO.get(), below(4)},
                           {kM.get(), below(2)},
                           {kI.get(), below(16)},
                           {kX.get(), below(109) - 8},
                           {kU.get(), below(40) - 20}};
    if (Evaluate(e, values) != Evaluate(simple, values)) {
      RC_FAIL(ToText(e) + "  became  " + ToText(simple));
    }
  }
}

}  // namespace
}  // namespace hone::loop
