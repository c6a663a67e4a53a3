// Primitives that put instructions or filters in the place of products: golden/<name>.txt holds the
// nest after each.
#include "compiler/loop/builder.h"
#include "compiler/schedule/primitives/annotate.h"
#include "compiler/schedule/primitives/cache_read.h"
#include "compiler/schedule/primitives/cache_write.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/primitives/dilation_phases.h"
#include "compiler/schedule/primitives/dot_product.h"
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/primitives/pad_stage.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/row_filters.h"
#include "compiler/schedule/primitives/set_layout.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/tile_rows.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/golden_nest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/test_nests.h"

namespace hone::schedule {
namespace {

// c[m, n] = a[m, k] by b[n, k], of bytes.
loop::Nest ByteNest(int64_t m = 2, int64_t n = 3, int64_t k = 6) {
  loop::NestBuilder builder("bytes");
  const loop::Buffer a = builder.AddInput("a", DataType::kUInt8, {m, k});
  const loop::Buffer b = builder.AddConstant("b", DataType::kInt8, {n, k});
  const auto wide = [](const loop::Expr& e) { return loop::Cast(DataType::kInt32, e); };
  const loop::Buffer c = builder.Reduce(
      "c", DataType::kInt32, {m, n}, std::vector<int64_t>{k}, loop::NestBuilder::Combiner::kAdd,
      loop::Const(0, DataType::kInt32), [&](const auto& axes, const auto& r) {
        return wide(loop::Load(a, {axes[0], r[0]})) * wide(loop::Load(b, {axes[1], r[0]}));
      });
  return builder.Finish({c});
}

TEST(PrimitivesGolden, DotProductOfPadLanes) {
  const loop::Nest naive = ByteNest();
  loop::Nest nest = naive;
  EXPECT_FALSE(SumPadLanes(&nest, Loop("c.r0"), 4).ok());  // nothing is padded
  ASSERT_TRUE(Pack(&nest, "a", *Layout::Parse("NC4c", 2)).ok());
  ASSERT_TRUE(Pack(&nest, "b", *Layout::Parse("NC16n4c", 2)).ok());
  ASSERT_TRUE(SumPadLanes(&nest, Loop("c.r0"), 4).ok());
  EXPECT_FALSE(DotProduct(&nest, Loop("c.r0")).ok());  // eight steps
  ASSERT_TRUE(Split(&nest, Loop("c.r0"), 4, Tail::kExact).ok());
  ASSERT_TRUE(DotProduct(&nest, Loop("c.r0.i")).ok());
  ExpectGolden("dot_product", naive, nest);
}

TEST(PrimitivesGolden, SumsGoOverZerosOfPaddedStages) {
  const loop::Nest naive = ByteNest();
  loop::Nest nest = naive;
  const auto a = CacheRead(&nest, "a", Stage("c"));
  const auto b = CacheRead(&nest, "b", Stage("c"));
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE(PadStage(&nest, *a, {2, 8}).ok());
  EXPECT_FALSE(SumPadLanes(&nest, Loop("c.r0"), 8).ok());  // the other factor is as it was
  ASSERT_TRUE(PadStage(&nest, *b, {4, 8}).ok());
  ASSERT_TRUE(SumPadLanes(&nest, Loop("c.r0"), 8).ok());
  EXPECT_FALSE(SumPadLanes(&nest, Loop("c.r0"), 16).ok());
  EXPECT_NE(loop::ToText(nest).find("c.r0 in 0..8"), std::string::npos) << loop::ToText(nest);
  ExpectSameResults(naive, nest, /*seed=*/1, "", /*tolerance=*/0);
}

TEST(PrimitivesGolden, TileRows) {
  const loop::Nest naive = ByteNest(5, 16, 8);
  loop::Nest nest = naive;
  ASSERT_TRUE(Pack(&nest, "b", *Layout::Parse("NC16n4c", 2)).ok());
  ASSERT_TRUE(CacheWrite(&nest, Stage("c")).ok());
  ASSERT_TRUE(Split(&nest, Loop("c.i0"), 5, Tail::kExact, Loop("c.mb"), Loop("c.m")).ok());
  ASSERT_TRUE(ComputeAt(&nest, Stage("c.acc"), Loop("c.mb"), {loop::Scope::kTile, {}, ""}).ok());
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("c.acc.i0")).ok());
  ASSERT_TRUE(
      Split(&nest, Loop("c.acc.r0"), 4, Tail::kExact, Loop("c.acc.k"), Loop("c.acc.d")).ok());
  ASSERT_TRUE(
      Reorder(&nest, {Loop("c.acc.i0"), Loop("c.acc.k"), Loop("c.acc.i1"), Loop("c.acc.d")}).ok());
  const Loop units = Stage("c.acc").Axis(1), tile_rows = Stage("c.acc").Axis(0);
  for (const Loop& lanes : {units.Init(), units, Loop("c.i1")}) {
    ASSERT_TRUE(Vectorize(&nest, lanes).ok());
  }
  EXPECT_FALSE(TileRows(&nest, Loop("c.acc.i0")).ok());  // no dot products yet
  ASSERT_TRUE(DotProduct(&nest, Loop("c.acc.d")).ok());
  EXPECT_FALSE(TileRows(&nest, Loop("c.acc.k")).ok());
  for (const Loop& rows : {tile_rows.Init(), tile_rows, Loop("c.m")}) {
    const absl::Status status = TileRows(&nest, rows);
    ASSERT_TRUE(status.ok()) << status;
  }
  ExpectGolden("tile_rows", naive, nest);
}

TEST(Primitives, DotProductOfBFloat16TakesPairs) {
  loop::NestBuilder builder("pairs");
  const loop::Buffer a = builder.AddInput("a", DataType::kBFloat16, {2, 6});
  const loop::Buffer b = builder.AddConstant("b", DataType::kBFloat16, {3, 6});
  const auto wide = [](const loop::Expr& e) { return loop::Cast(DataType::kFloat32, e); };
  const loop::Buffer c = builder.Reduce(
      "c", DataType::kFloat32, {2, 3}, std::vector<int64_t>{6}, loop::NestBuilder::Combiner::kAdd,
      loop::Const(0, DataType::kFloat32), [&](const auto& axes, const auto& r) {
        return wide(loop::Load(a, {axes[0], r[0]})) * wide(loop::Load(b, {axes[1], r[0]}));
      });
  loop::Nest nest = builder.Finish({c});
  loop::Nest fours = nest;
  ASSERT_TRUE(Split(&fours, Loop("c.r0"), 4, Tail::kClip).ok());
  EXPECT_FALSE(DotProduct(&fours, Loop("c.r0.i")).ok());
  ASSERT_TRUE(Split(&nest, Loop("c.r0"), 2, Tail::kExact).ok());
  EXPECT_TRUE(DotProduct(&nest, Loop("c.r0.i")).ok());
}

TEST(Primitives, DotProductRefusesStepsThatAreNoNeighbours) {
  loop::Nest nest = ByteNest();
  ASSERT_TRUE(SetLayout(&nest, "a", *Layout::Parse("CN", 2)).ok());
  ASSERT_TRUE(Split(&nest, Loop("c.r0"), 4, Tail::kClip).ok());
  EXPECT_FALSE(DotProduct(&nest, Loop("c.r0.i")).ok());  // not always four
  loop::Nest floats = MatmulNest(2, 3, 4);
  EXPECT_FALSE(DotProduct(&floats, Loop("sum.r0")).ok());
}

loop::Nest DepthwiseNest(int64_t stride) {
  return MustLower(fmt::format("fn (p0: Tensor[(1, 2, 3, 4), float32], const p1: Tensor[(2, 1, 2, "
                               "3), float32]) {{ %0 = nn.conv2d(p0, p1, groups=2, padding=[0, 1, "
                               "0, 0], strides=[{0}, {0}]); nn.relu(%0) }} accumulate=float32 "
                               "numerics=default",
                               stride))
      .naive;
}

// Three columns of results: the second tile has one.
TEST(PrimitivesGolden, FilterRows) {
  const loop::Nest naive = DepthwiseNest(1);
  loop::Nest nest = naive;
  const auto stages = FilterRows(&nest, Stage("conv2d"), 2);
  ASSERT_TRUE(stages.ok()) << stages.status();
  EXPECT_EQ(stages->data, Stage("conv2d.data"));
  ExpectGolden("filter_rows", naive, nest);
}

TEST(Primitives, FilterRowsRefusesWhatItCannotFilter) {
  const auto refused = [](loop::Nest nest, const std::string& buffer, int64_t tile) {
    EXPECT_EQ(FilterRows(&nest, Stage(buffer), tile).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << buffer << tile;
  };
  refused(DepthwiseNest(2), "conv2d", 2);  // windows two apart
  refused(DepthwiseNest(1), "conv2d", 1);
  refused(DepthwiseNest(1), "conv2d", 30);
  refused(DepthwiseNest(1), "relu", 2);
  refused(ConvNest(3, 4, 2), "conv", 2);  // sums over channels
}

loop::Nest DilatedNest(int64_t stride) {
  return MustLower(fmt::format("fn (p0: Tensor[(1, 2, 5, 4), float32], const p1: Tensor[(3, 2, 2, "
                               "3), float32]) {{ %0 = nn.conv2d(p0, p1, dilation=[2, 3], "
                               "padding=[0, 3, 0, 3], strides=[{0}, {0}]); nn.relu(%0) }} "
                               "accumulate=float32 numerics=default",
                               stride))
      .naive;
}

// Two phases of three rows, one of which has two, and three of four columns.
TEST(PrimitivesGolden, SplitDilation) {
  const loop::Nest naive = DilatedNest(1);
  loop::Nest nest = naive;
  const auto stages = SplitDilation(&nest, Stage("conv2d"), 2, 3);
  ASSERT_TRUE(stages.ok()) << stages.status();
  EXPECT_EQ(stages->result, Stage("conv2d.phases"));
  ExpectGolden("split_dilation", naive, nest);
}

TEST(Primitives, SplitDilationRefusesWhatHasNoSuchPhases) {
  const auto refused = [](loop::Nest nest, const std::string& buffer, int64_t height) {
    EXPECT_EQ(SplitDilation(&nest, Stage(buffer), height, 3).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << buffer << height;
  };
  refused(DilatedNest(2), "conv2d", 2);  // windows two apart
  refused(DilatedNest(1), "conv2d", 1);
  refused(DilatedNest(1), "relu", 2);
}

}  // namespace
}  // namespace hone::schedule
