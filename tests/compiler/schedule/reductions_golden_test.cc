// Primitives that change how sums are formed, or which terms of them: golden/<name>.txt holds the
// nest after each.
#include "compiler/loop/builder.h"
#include "compiler/schedule/primitives/annotate.h"
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/local_sum.h"
#include "compiler/schedule/primitives/reduce_by_lanes.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/rfactor.h"
#include "compiler/schedule/primitives/separate_windows.h"
#include "compiler/schedule/primitives/share_by_offsets.h"
#include "compiler/schedule/primitives/skip_zero_terms.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/unroll_steps.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/golden_nest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/test_nests.h"

namespace hone::schedule {
namespace {

// for t, k, i: sum[i] = sum[i] + term, of 4 x 3 and as many i as `extent` of k says; i from 0.
loop::Nest SumNest(const std::function<loop::Expr(const loop::Expr& k)>& extent, bool reads_sum) {
  loop::NestBuilder builder("sums");
  const loop::Buffer x = builder.AddInput("x", DataType::kFloat32, {4, 3});
  auto node = std::make_shared<loop::BufferNode>();
  node->name = "sum";
  node->dtype = DataType::kFloat32;
  node->shape = {8};
  node->layout = Layout::RowMajor(1);
  const loop::Buffer sum = std::move(node);
  const loop::Expr t = loop::Var("t"), k = loop::Var("k"), i = loop::Var("i");
  loop::Expr term = loop::Load(x, {t, k});
  if (reads_sum) term = term * loop::Load(sum, {loop::Expr(7) - i});
  const loop::Stmt add = loop::Store(sum, {i}, loop::Load(sum, {i}) + term);
  builder.AddStage(sum, loop::For(t, 0, 4, loop::For(k, 0, 3, loop::For(i, 0, extent(k), add))));
  return builder.Finish({sum});
}

TEST(PrimitivesGolden, ReducesByLanes) {
  loop::NestBuilder builder("sums");
  const loop::Buffer x = builder.AddInput("x", DataType::kFloat32, {3, 23});
  const loop::Buffer out =
      builder.Reduce("out", DataType::kFloat32, {3}, std::vector<int64_t>{23},
                     loop::NestBuilder::Combiner::kAdd, loop::FloatConst(0, DataType::kFloat32),
                     [&](const std::vector<loop::Expr>& axes, const std::vector<loop::Expr>& r) {
                       return loop::Load(x, {axes[0], r[0]});
                     });
  const loop::Nest naive = builder.Finish({out});
  loop::Nest nest = naive;
  EXPECT_FALSE(ReduceByLanes(&nest, Loop("out.i0"), 4, 2).ok());
  EXPECT_FALSE(ReduceByLanes(&nest, Loop("out.r0"), 3, 2).ok());
  ASSERT_TRUE(ReduceByLanes(&nest, Loop("out.r0"), 4, 2).ok());
  ExpectGolden("reduce_by_lanes", naive, nest);
}

// Sums start with `first`: parts must not count that once each.
loop::Nest PlaneSums(float first) {
  loop::NestBuilder builder("planes");
  const loop::Buffer x = builder.AddInput("x", DataType::kFloat32, {3, 8, 5});
  const loop::Buffer out =
      builder.Reduce("out", DataType::kFloat32, {3}, std::vector<int64_t>{8, 5},
                     loop::NestBuilder::Combiner::kAdd, loop::FloatConst(first, DataType::kFloat32),
                     [&](const std::vector<loop::Expr>& axes, const std::vector<loop::Expr>& r) {
                       return loop::Load(x, {axes[0], r[0], r[1]});
                     });
  return builder.Finish({out});
}

TEST(PrimitivesGolden, ReducesInParts) {
  const loop::Nest naive = PlaneSums(100);
  loop::Nest nest = naive;
  EXPECT_FALSE(Rfactor(&nest, Loop("out.i0"), 3).ok()) << "no loop of the reduction";
  EXPECT_FALSE(Rfactor(&nest, Loop("out.r0"), 3).ok()) << "three parts of eight";
  EXPECT_EQ(ToText(nest), ToText(naive));
  const absl::StatusOr<Stage> parts = Rfactor(&nest, Loop("out.r0"), 4);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(*parts, Stage("out.parts"));
  ASSERT_TRUE(Parallel(&nest, parts->Axis(0)).ok());
  ExpectGolden("rfactor", naive, nest);
  nest = naive;
  ASSERT_TRUE(Rfactor(&nest, Loop("out.r1"), 5).ok());
  ExpectSameResults(naive, nest, 3, "parts of one step of the inner loop");
}

// Strided parts, the last steps of which some parts do not have, and parts of those.
TEST(PrimitivesGolden, ReducesInGuardedParts) {
  const loop::Nest naive = PlaneSums(100);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("out.r1"), 4, Tail::kGuard).ok());
  const absl::StatusOr<Stage> parts = Rfactor(&nest, Loop("out.r1.i"), 4);
  ASSERT_TRUE(parts.ok()) << parts.status();
  const absl::StatusOr<Stage> few = Rfactor(&nest, Stage("out").Partials(), 2);
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_EQ(*few, Stage("out.parts2"));
  ExpectGolden("rfactor_guard", naive, nest);
}

// Windows of two rows and three columns, two rows apart, with padding before and behind.
loop::Nest PoolNest(const char* op, const char* dilation) {
  return MustLower(fmt::format("fn (p0: Tensor[(1, 2, 5, 4), float32]) {{ %0 = {}(p0, "
                               "dilation={}, padding=[1, 1, 0, 2], pool_size=[2, 3], strides=[2, "
                               "1]); nn.relu(%0) }}{}",
                               op, dilation, kDefaultEnd))
      .naive;
}

TEST(PrimitivesGolden, SeparatesWindows) {
  const loop::Nest naive = PoolNest("nn.max_pool2d", "[1, 1]");
  loop::Nest nest = naive;
  const auto stages = SeparateWindows(&nest, Stage("max_pool2d"), {2, 1});
  ASSERT_TRUE(stages.ok()) << stages.status();
  EXPECT_EQ(stages->elements, Stage("max_pool2d.elements"));
  EXPECT_EQ(stages->rows, Stage("max_pool2d.rows"));
  ExpectGolden("separate_windows", naive, nest);
  const loop::Nest sums = PoolNest("nn.avg_pool2d", "[1, 1]");
  nest = sums;
  ASSERT_TRUE(SeparateWindows(&nest, Stage("pool_sum"), {2, 1}).ok());
  ExpectSameResults(sums, nest, 3, "sums of windows");
}

TEST(Primitives, SeparateWindowsRefusesOtherStages) {
  const auto refused = [](const loop::Nest& naive, const std::string& buffer,
                          const std::vector<int64_t>& strides) {
    loop::Nest nest = naive;
    EXPECT_EQ(SeparateWindows(&nest, Stage(buffer), strides).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << buffer;
    EXPECT_EQ(ToText(nest), ToText(naive));
  };
  const loop::Nest pool = PoolNest("nn.max_pool2d", "[1, 1]");
  refused(pool, "max_pool2d", {1, 1});
  refused(pool, "max_pool2d", {2});
  refused(pool, "relu", {2, 1});
  refused(PoolNest("nn.max_pool2d", "[2, 1]"), "max_pool2d", {2, 1});  // taps are two rows apart
  refused(ConvNest(3, 5, 2), "conv", {1, 1});                          // sums over channels
  refused(MatmulNest(2, 3, 4), "sum", {1, 1});
}

// Several results at once, the last tile of them smaller.
TEST(PrimitivesGolden, ReducesATileByLanes) {
  const loop::Nest naive = MatmulNest(2, 5, 11);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("sum.i1"), 3, Tail::kClip, Loop("sum.block"), Loop("sum.i1")).ok());
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("sum.i1")).ok());
  ASSERT_TRUE(Reorder(&nest, {Loop("sum.r0"), Loop("sum.i1")}).ok());
  ASSERT_TRUE(ReduceByLanes(&nest, Loop("sum.r0"), 4, 2).ok());
  ExpectGolden("reduce_by_lanes_tile", naive, nest);
}

TEST(Primitives, ReduceByLanesRefusesLoopsThatAreNotOverResults) {
  loop::Nest nest = SumNest([](const loop::Expr&) { return loop::Expr(8); }, false);
  EXPECT_EQ(ReduceByLanes(&nest, Loop("t"), 4, 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(ReduceByLanes(&nest, Loop("k"), 4, 1).ok());
  nest = SumNest([](const loop::Expr& k) { return k + loop::Expr(1); }, false);
  EXPECT_EQ(ReduceByLanes(&nest, Loop("k"), 4, 1).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(PrimitivesGolden, UnrollsStepsCountedByData) {
  loop::NestBuilder builder("ragged");
  const loop::Buffer x = builder.AddInput("x", DataType::kFloat32, {23});
  const loop::Buffer lengths = builder.AddInput("lengths", DataType::kInt32, {9});
  builder.SetDomain(lengths, -2, 23);
  const loop::Buffer out = builder.Reduce(
      "out", DataType::kFloat32, {9},
      [&](const std::vector<loop::Expr>& axes) {
        return std::vector<loop::Expr>{loop::Cast(DataType::kInt64, loop::Load(lengths, axes))};
      },
      loop::NestBuilder::Combiner::kAdd, loop::FloatConst(0, DataType::kFloat32),
      [&](const std::vector<loop::Expr>& axes, const std::vector<loop::Expr>& r) {
        return loop::Load(x, {r[0]});
      });
  const loop::Nest naive = builder.Finish({out});
  loop::Nest nest = naive;
  EXPECT_FALSE(UnrollSteps(&nest, Loop("out.r0"), 1).ok());
  ASSERT_TRUE(UnrollSteps(&nest, Loop("out.r0"), 3).ok());
  EXPECT_FALSE(UnrollSteps(&nest, Loop("out.r0.u"), 2).ok());
  ExpectGolden("unroll_steps", naive, nest);
}

TEST(PrimitivesGolden, SharesRowsByTheirOffsets) {
  loop::NestBuilder builder("ragged");
  const loop::Buffer x = builder.AddInput("x", DataType::kFloat32, {23});
  const loop::Buffer begins = builder.AddConstant("begins", DataType::kInt32, {10});
  builder.SetDomain(begins, 0, 23, /*ascending=*/true);
  const auto begin = [&](const loop::Expr& row) {
    return loop::Cast(DataType::kInt64, loop::Load(begins, {row}));
  };
  const loop::Buffer out = builder.Reduce(
      "out", DataType::kFloat32, {9},
      [&](const std::vector<loop::Expr>& axes) {
        return std::vector<loop::Expr>{begin(axes[0] + 1) - begin(axes[0])};
      },
      loop::NestBuilder::Combiner::kAdd, loop::FloatConst(0, DataType::kFloat32),
      [&](const std::vector<loop::Expr>& axes, const std::vector<loop::Expr>& r) {
        return loop::Load(x, {begin(axes[0]) + r[0]});
      });
  const loop::Nest naive = builder.Finish({out});
  loop::Nest nest = naive;
  EXPECT_FALSE(ShareByOffsets(&nest, Loop("out.i0"), "begins", {23, 1}, 4).ok());  // not parallel
  ASSERT_TRUE(Parallel(&nest, Loop("out.i0")).ok());
  EXPECT_FALSE(ShareByOffsets(&nest, Loop("out.i0"), "x", {23, 1}, 4).ok());
  EXPECT_FALSE(ShareByOffsets(&nest, Loop("out.i0"), "begins", {23, 1}, 0).ok());
  EXPECT_FALSE(ShareByOffsets(&nest, Loop("out.i0"), "begins", {int64_t{1} << 58, 1}, 4).ok());
  EXPECT_FALSE(ShareByOffsets(&nest, Loop("out.i0"), "begins", {23, 0}, 4).ok());
  ASSERT_TRUE(ShareByOffsets(&nest, Loop("out.i0"), "begins", {23, 1}, 4).ok());
  ExpectGolden("share_by_offsets", naive, nest);
}

TEST(PrimitivesGolden, SumsLocally) {
  const loop::Nest naive = MatmulNest(10, 6, 8);
  loop::Nest nest = naive;
  EXPECT_FALSE(SumLocally(&nest, Loop("sum.i0")).ok());  // the sum is set to zero there
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("sum.i0")).ok());
  ASSERT_TRUE(Split(&nest, Loop("sum.i0"), 4, Tail::kClip, Loop("sum.block"), Loop("sum.i0")).ok());
  ASSERT_TRUE(
      Split(&nest, Loop("sum.r0"), 4, Tail::kExact, Loop("sum.chunk"), Loop("sum.r0")).ok());
  ASSERT_TRUE(Reorder(&nest,
                      {Loop("sum.chunk"), Loop("sum.block"), Loop("sum.r0"), Loop("sum.i0"),
                       Loop("sum.i1")},
                      true)
                  .ok());
  const absl::StatusOr<Stage> acc = SumLocally(&nest, Loop("sum.block"));
  ASSERT_TRUE(acc.ok()) << acc.status();
  EXPECT_EQ(*acc, Stage("sum.acc"));
  ExpectGolden("sum_locally", naive, nest);
}

TEST(PrimitivesGolden, SkipZeroTermsAndClip) {
  const loop::Nest naive = ConvNest(2, 4, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(InlineStage(&nest, Stage("pad")).ok());
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("conv.i0")).ok());
  ASSERT_TRUE(SkipZeroTerms(&nest, Loop("conv.i0")).ok());
  ASSERT_TRUE(ClipLoop(&nest, Loop("conv.r1")).ok());
  ExpectGolden("skip_zero_terms_clip", naive, nest);
}

// The taps of other rows that are padding are left out of a row's local sum by the bounds of their
// loop.
TEST(PrimitivesGolden, SkipsZeroTermsOfLocalSums) {
  const loop::Nest naive = ConvNest(4, 3, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(InlineStage(&nest, Stage("pad")).ok());
  ASSERT_TRUE(
      Split(&nest, Loop("conv.r0"), 2, Tail::kExact, Loop("conv.chunk"), Loop("conv.r0")).ok());
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("conv.i1")).ok());
  ASSERT_TRUE(Reorder(&nest,
                      {Loop("conv.i1"), Loop("conv.chunk"), Loop("conv.i2"), Loop("conv.r0"),
                       Loop("conv.r1"), Loop("conv.r2"), Loop("conv.i3")},
                      true)
                  .ok());
  ASSERT_TRUE(SumLocally(&nest, Loop("conv.i2")).ok());
  ASSERT_TRUE(SkipZeroTerms(&nest, Loop("conv.acc.r1")).ok());
  ASSERT_TRUE(ClipLoop(&nest, Loop("conv.acc.r1")).ok());
  ExpectGolden("skip_zero_terms_local", naive, nest);
}

TEST(Primitives, SumLocallyRefusesWhatItCannotSumApart) {
  const auto eight = [](const loop::Expr&) { return loop::Expr(8); };
  const auto ragged = [](const loop::Expr& k) { return k + loop::Expr(1); };
  loop::Nest nest = SumNest(eight, false);
  EXPECT_TRUE(SumLocally(&nest, Loop("t")).ok());
  nest = SumNest(ragged, false);
  EXPECT_EQ(SumLocally(&nest, Loop("t")).status().code(), absl::StatusCode::kFailedPrecondition);
  nest = SumNest(eight, true);
  EXPECT_EQ(SumLocally(&nest, Loop("t")).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace hone::schedule
