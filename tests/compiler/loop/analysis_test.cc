#include "compiler/loop/analysis.h"

#include "compiler/loop/interpreter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "support/random.h"

namespace hone::loop {
namespace {

constexpr DataType kF32 = DataType::kFloat32;

const Expr kI = Var("i");
const Expr kJ = Var("j");
const Expr kR = Var("r");
const Buffer kA = MakeBuffer("a", kF32, {64, 64}, Role::kInput);
const Buffer kB = MakeBuffer("b", kF32, {64, 64});
const Buffer kC = MakeBuffer("c", kF32, {64, 64}, Role::kOutput);

LoopDependence DependenceOf(const Stmt& loop) { return AnalyseLoop(loop, {}).dependence; }

// c[i, j] = 0; for r: c[i, j] += a[i, r] * b[r, j], for the r loop alone or with the others.
Stmt MatmulUpdate() {
  return For(kR, 0, 64,
             Store(kC, {kI, kJ}, Load(kC, {kI, kJ}) + Load(kA, {kI, kR}) * Load(kB, {kR, kJ})));
}
Stmt MatmulColumn() {
  return For(kJ, 0, 64, Seq({Store(kC, {kI, kJ}, FloatConst(0, kF32)), MatmulUpdate()}));
}

TEST(Analysis, TellsReductionLoopsFromIndependentOnes) {
  EXPECT_EQ(DependenceOf(For(kI, 0, 64, MatmulColumn())), LoopDependence::kIndependent);
  EXPECT_EQ(DependenceOf(MatmulColumn()), LoopDependence::kIndependent);
  const LoopAnalysis reduction = AnalyseLoop(MatmulUpdate(), {});
  EXPECT_EQ(reduction.dependence, LoopDependence::kReduction);
  EXPECT_THAT(reduction.reduced, testing::ElementsAre(kC));
}

TEST(Analysis, DistrustsRecurrences) {
  const Stmt scan = For(kI, 1, 63, Store(kC, {kI, 0}, Load(kC, {kI - 1, 0}) + Load(kA, {kI, 0})));
  const LoopAnalysis analysis = AnalyseLoop(scan, {});
  EXPECT_EQ(analysis.dependence, LoopDependence::kUnknown);
  EXPECT_THAT(analysis.reason, testing::HasSubstr("loop i may touch the same elements of %c"));
  const Stmt overlap =
      For(kI, 0, 32, For(kJ, 0, 3, Store(kC, {kI * 2 + kJ, 0}, Load(kA, {kI, 0}))));
  EXPECT_EQ(DependenceOf(overlap), LoopDependence::kUnknown);
  const Stmt tiled = For(kI, 0, 32, For(kJ, 0, 2, Store(kC, {kI * 2 + kJ, 0}, Load(kA, {kI, 0}))));
  EXPECT_EQ(DependenceOf(tiled), LoopDependence::kIndependent);
}

TEST(Analysis, SeesThroughFusedLoopsAndLoopsThatDoNotStartAtZero) {
  const Expr f = Var("f");
  const Stmt fused =
      For(f, 0, 64 * 8, Store(kC, {FloorDiv(f, 8), FloorMod(f, 8)}, Load(kA, {0, 0})));
  EXPECT_EQ(DependenceOf(fused), LoopDependence::kIndependent);
  const Buffer cube = MakeBuffer("cube", kF32, {4, 8, 8});
  const Stmt three = For(f, 0, 200,
                         Store(cube, {FloorDiv(f, 64), FloorMod(FloorDiv(f, 8), 8), FloorMod(f, 8)},
                               Load(kA, {0, 0})));
  EXPECT_EQ(DependenceOf(three), LoopDependence::kIndependent);
  const Stmt tiles = For(kI, 0, 16, For(kJ, kI * 4, 4, Store(kC, {kJ, 0}, Load(kA, {kJ, 0}))));
  EXPECT_EQ(DependenceOf(tiles), LoopDependence::kIndependent);
}

TEST(Analysis, IgnoresBuffersThatEachIterationHasForItself) {
  auto local = std::make_shared<BufferNode>(*MakeBuffer("t", kF32, {1}));
  local->scope = Scope::kRegister;
  const Stmt body = Alloc(
      local, Seq({Store(local, {0}, Load(kA, {kI, 0})), Store(kC, {kI, 0}, Load(local, {0}))}));
  EXPECT_EQ(DependenceOf(For(kI, 0, 64, body)), LoopDependence::kIndependent);
}

TEST(Analysis, DistrustsIndirectStores) {
  const Buffer index = MakeBuffer("index", DataType::kInt64, {64}, Role::kInput);
  const Stmt scatter = For(kI, 0, 64, Store(kC, {Load(index, {kI}), 0}, Load(kA, {kI, 0})));
  EXPECT_EQ(DependenceOf(scatter), LoopDependence::kUnknown);
}

TEST(Analysis, InfersRegionsFromOuterVariables) {
  const Expr o = Var("o");
  const Stmt s = For(kI, o * 4, 4, For(kR, 0, 3, Store(kC, {kI, 0}, Load(kA, {kI * 2 + kR, 5}))));
  const auto read = TouchedRegion(s, kA, AccessKind::kRead, {{o.get(), {0, 7}}});
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(ToText(read->min[0]), "o * 8");
  EXPECT_EQ(ToText(read->min[1]), "5");
  EXPECT_THAT(read->extent, testing::ElementsAre(9, 1));
  EXPECT_FALSE(TouchedRegion(s, kA, AccessKind::kWrite, {}).has_value());
  const Buffer index = MakeBuffer("index", DataType::kInt64, {64}, Role::kInput);
  const Stmt gather = Store(kC, {0, 0}, Load(kA, {Load(index, {o}), o}));
  const auto whole = TouchedRegion(gather, kA, AccessKind::kAny, {});
  EXPECT_THAT(whole->extent, testing::ElementsAre(64, 1));
}

TEST(Analysis, MeasuresStridesInMemory) {
  auto blocked = std::make_shared<BufferNode>(*MakeBuffer("x", kF32, {1, 64, 56, 56}));
  blocked->layout = *Layout::Parse("NCHW16c", 4);
  const Expr o = Var("o");
  const Expr w = Var("w");
  const Bounds bounds = {{o.get(), {0, 3}}, {kI.get(), {0, 15}}, {w.get(), {0, 55}}};
  const std::vector<Expr> indices = {0, o * 16 + kI, 3, w};
  EXPECT_EQ(ElementStride(*blocked, indices, kI, bounds), 1);
  EXPECT_EQ(ElementStride(*blocked, indices, w, bounds), 16);
  EXPECT_EQ(ElementStride(*blocked, indices, o, bounds), 16 * 56 * 56);
  EXPECT_EQ(ElementStride(*blocked, {0, w, 0, 0}, w, bounds), std::nullopt);
}

// A linear index of the loops, sometimes a digit of it, kept inside the buffer.
Expr RandomIndex(Random& random, const std::vector<Expr>& vars, int64_t extent) {
  const int64_t coefficients[] = {0, 0, 1, 1, 2, 3, 4, -1};
  Expr index = static_cast<int64_t>(16 + random.Below(3));
  for (const Expr& var : vars) index = index + var * Expr(coefficients[random.Below(8)]);
  const int64_t divisors[] = {2, 3, 4};
  if (random.Below(4) == 0) index = FloorDiv(index, Expr(divisors[random.Below(3)]));
  if (random.Below(4) == 0) index = FloorMod(index, Expr(divisors[random.Below(3)]));
  return Max(Min(index, Expr(extent - 1)), Expr(0));
}

// What is called independent gives the same bits in the reverse order.
RC_GTEST_PROP(AnalysisProperty, IndependentLoopsRunInAnyOrder, (uint64_t seed)) {
  Random random(seed);
  const Buffer x = MakeBuffer("x", kF32, {128, 128}, Role::kOutput);
  const Buffer y = MakeBuffer("y", kF32, {128, 128}, Role::kOutput);
  std::vector<Expr> vars;
  std::vector<Expr> mins;
  for (int n = 0; n < 3; ++n) {
    const bool shifted = n > 0 && random.Below(3) == 0;
    mins.push_back(shifted ? vars[0] * Expr(static_cast<int64_t>(1 + random.Below(3))) : Expr(0));
    vars.push_back(Var("v" + std::to_string(n)));
  }
  const auto indices = [&] {
    std::vector<Expr> result;
    for (int d = 0; d < 2; ++d) {
      const Expr index = RandomIndex(random, vars, 128);
      result.push_back(index);
    }
    return result;
  };
  std::vector<Stmt> stores;
  for (uint64_t n = 1 + random.Below(2); n > 0; --n) {
    const Buffer& to = random.Below(3) ? x : y;
    const std::vector<Expr> place = indices();
    const Expr id = Cast(kF32, vars[0] * 64 + vars[1] * 8 + vars[2]);
    const Expr old = random.Below(2) ? Load(to, place) : Load(random.Below(2) ? x : y, indices());
    stores.push_back(
        Store(to, place, random.Below(3) == 0 ? old + id : old * FloatConst(2, kF32) + id));
  }
  const size_t chosen = random.Below(3);
  Stmt body = Seq(stores);
  Stmt reversible;
  LoopAnalysis analysis;
  Bounds outer;
  for (size_t n = 3; n-- > 0;) {
    const LoopKind kind = n == chosen ? LoopKind::kParallel : LoopKind::kSerial;
    body = For(vars[n], mins[n], Expr(static_cast<int64_t>(1 + random.Below(4))), body, kind);
    if (n == chosen) analysis = AnalyseLoop(body, outer);
  }
  const Nest nest{"k", {x, y}, {{"l", Phase::kRun, body}}};
  std::vector<float> results[2];
  for (bool reverse : {false, true}) {
    std::vector<float> a(128 * 128), b(128 * 128);
    for (size_t i = 0; i < a.size(); ++i) a[i] = b[i] = static_cast<float>(i % 7);
    RC_ASSERT(Interpret(nest, {a.data(), b.data()}, {.reverse_grid = reverse}).ok());
    a.insert(a.end(), b.begin(), b.end());
    results[reverse ? 1 : 0] = a;
  }
  RC_CLASSIFY(analysis.dependence == LoopDependence::kIndependent, "independent");
  RC_CLASSIFY(analysis.dependence == LoopDependence::kReduction, "reduction");
  // Sums of small integers are exact: reductions, too, come out the same in any order.
  const bool may_differ = analysis.dependence == LoopDependence::kUnknown;
  if (!may_differ && results[0] != results[1]) RC_FAIL(ToText(nest));
}

}  // namespace
}  // namespace hone::loop
