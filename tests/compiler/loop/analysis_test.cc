#include "compiler/loop/analysis.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

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

}  // namespace
}  // namespace hone::loop
