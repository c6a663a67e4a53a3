// Shows what each primitive does: golden/<name>.txt holds the nest after it. HONE_UPDATE_GOLDEN=1
// writes them anew.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/loop/builder.h"
#include "compiler/schedule/primitives/annotate.h"
#include "compiler/schedule/primitives/cache_write.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/primitives/dot_product.h"
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/inline_padding.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/join_axes.h"
#include "compiler/schedule/primitives/local_sum.h"
#include "compiler/schedule/primitives/merge_loops.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/primitives/peel.h"
#include "compiler/schedule/primitives/prefetch.h"
#include "compiler/schedule/primitives/reduce_by_lanes.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/rfactor.h"
#include "compiler/schedule/primitives/row_filters.h"
#include "compiler/schedule/primitives/set_layout.h"
#include "compiler/schedule/primitives/share_by_offsets.h"
#include "compiler/schedule/primitives/skip_zero_terms.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/tile_rows.h"
#include "compiler/schedule/primitives/unroll_steps.h"
#include "compiler/schedule/primitives/unswitch.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/test_nests.h"

namespace hone::schedule {
namespace {

// The nest computes what `naive` does, and reads as the golden file says.
void ExpectGolden(const std::string& name, const loop::Nest& naive, const loop::Nest& nest) {
  ExpectSameResults(naive, nest, 7, name);
  const std::string path = std::string(HONE_TEST_DIR) + "/golden/" + name + ".txt";
  const std::string text = loop::ToText(nest);
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "HONE_UPDATE_GOLDEN=1 writes " << path;
}

Layout LayoutOf(const std::string& text, int rank) { return *Layout::Parse(text, rank); }

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
  EXPECT_FALSE(ReduceByLanes(&nest, "out.i0", 4, 2).ok());
  EXPECT_FALSE(ReduceByLanes(&nest, "out.r0", 3, 2).ok());
  ASSERT_TRUE(ReduceByLanes(&nest, "out.r0", 4, 2).ok());
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
  EXPECT_FALSE(Rfactor(&nest, "out.i0", 3).ok()) << "no loop of the reduction";
  EXPECT_FALSE(Rfactor(&nest, "out.r0", 3).ok()) << "three parts of eight";
  EXPECT_EQ(ToText(nest), ToText(naive));
  const absl::StatusOr<std::string> parts = Rfactor(&nest, "out.r0", 4);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(*parts, "out.parts");
  ASSERT_TRUE(Parallel(&nest, "out.parts.i0").ok());
  ExpectGolden("rfactor", naive, nest);
  nest = naive;
  ASSERT_TRUE(Rfactor(&nest, "out.r1", 5).ok());
  ExpectSameResults(naive, nest, 3, "parts of one step of the inner loop");
}

// Several results at once, the last tile of them smaller.
TEST(PrimitivesGolden, ReducesATileByLanes) {
  const loop::Nest naive = MatmulNest(2, 5, 11);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "sum.i1", 3, Tail::kClip, "sum.block", "sum.i1").ok());
  ASSERT_TRUE(DecomposeReduction(&nest, "sum.i1").ok());
  ASSERT_TRUE(Reorder(&nest, {"sum.r0", "sum.i1"}).ok());
  ASSERT_TRUE(ReduceByLanes(&nest, "sum.r0", 4, 2).ok());
  ExpectGolden("reduce_by_lanes_tile", naive, nest);
}

TEST(Primitives, ReduceByLanesRefusesLoopsThatAreNotOverResults) {
  loop::Nest nest = SumNest([](const loop::Expr&) { return loop::Expr(8); }, false);
  EXPECT_EQ(ReduceByLanes(&nest, "t", 4, 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(ReduceByLanes(&nest, "k", 4, 1).ok());
  nest = SumNest([](const loop::Expr& k) { return k + loop::Expr(1); }, false);
  EXPECT_EQ(ReduceByLanes(&nest, "k", 4, 1).code(), absl::StatusCode::kFailedPrecondition);
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
  EXPECT_FALSE(UnrollSteps(&nest, "out.r0", 1).ok());
  ASSERT_TRUE(UnrollSteps(&nest, "out.r0", 3).ok());
  EXPECT_FALSE(UnrollSteps(&nest, "out.r0.u", 2).ok());
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
  EXPECT_FALSE(ShareByOffsets(&nest, "out.i0", "begins", {23, 1}, 4).ok());  // not parallel
  ASSERT_TRUE(Parallel(&nest, "out.i0").ok());
  EXPECT_FALSE(ShareByOffsets(&nest, "out.i0", "x", {23, 1}, 4).ok());
  EXPECT_FALSE(ShareByOffsets(&nest, "out.i0", "begins", {23, 1}, 0).ok());
  EXPECT_FALSE(ShareByOffsets(&nest, "out.i0", "begins", {int64_t{1} << 58, 1}, 4).ok());
  EXPECT_FALSE(ShareByOffsets(&nest, "out.i0", "begins", {23, 0}, 4).ok());
  ASSERT_TRUE(ShareByOffsets(&nest, "out.i0", "begins", {23, 1}, 4).ok());
  ExpectGolden("share_by_offsets", naive, nest);
}

TEST(PrimitivesGolden, SplitClips) {
  const loop::Nest naive = MatmulNest(10, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "out.i0", 4, Tail::kClip).ok());
  ExpectGolden("split_clip", naive, nest);
}

TEST(PrimitivesGolden, SplitGuards) {
  const loop::Nest naive = MatmulNest(10, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "out.i0", 4, Tail::kGuard).ok());
  ExpectGolden("split_guard", naive, nest);
}

TEST(PrimitivesGolden, PeelGivesTheTailASizeOfItsOwn) {
  const loop::Nest naive = MatmulNest(10, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "out.i0", 4, Tail::kClip).ok());
  ASSERT_TRUE(Peel(&nest, "out.i0.o", 0, 1).ok());
  ExpectGolden("peel", naive, nest);
}

TEST(PrimitivesGolden, PeelOfAParallelLoopBranchesInside) {
  const loop::Nest naive = MatmulNest(10, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "out.i0", 4, Tail::kClip).ok());
  ASSERT_TRUE(Parallel(&nest, "out.i0.o").ok());
  ASSERT_TRUE(Peel(&nest, "out.i0.o", 0, 1).ok());
  ExpectGolden("peel_parallel", naive, nest);
}

TEST(PrimitivesGolden, Inline) {
  const loop::Nest naive = TransposeNest(4, 6);
  loop::Nest nest = naive;
  ASSERT_TRUE(InlineStage(&nest, "twice").ok());
  ExpectGolden("inline_stage", naive, nest);
}

TEST(PrimitivesGolden, ComputeAtInfersTheRegion) {
  const loop::Nest naive = ConvNest(2, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "conv.i2", 4, Tail::kClip).ok());
  ASSERT_TRUE(ComputeAt(&nest, "pad", "conv.i2.o", {loop::Scope::kLocal, {}, ""}).ok());
  ExpectGolden("compute_at", naive, nest);
}

TEST(PrimitivesGolden, DecomposeAndReorder) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  ASSERT_TRUE(DecomposeReduction(&nest, "sum.i0").ok());
  ASSERT_TRUE(Reorder(&nest, {"sum.r0", "sum.i0", "sum.i1"}).ok());
  ExpectGolden("decompose_reorder", naive, nest);
}

TEST(PrimitivesGolden, SetLayoutPads) {
  const loop::Nest naive = MatmulNest(3, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(SetLayout(&nest, "out", LayoutOf("NC4c", 2)).ok());
  ExpectGolden("set_layout", naive, nest);
}

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
  EXPECT_FALSE(SumPadLanes(&nest, "c.r0", 4).ok());  // nothing is padded
  ASSERT_TRUE(Pack(&nest, "a", LayoutOf("NC4c", 2)).ok());
  ASSERT_TRUE(Pack(&nest, "b", LayoutOf("NC16n4c", 2)).ok());
  ASSERT_TRUE(SumPadLanes(&nest, "c.r0", 4).ok());
  EXPECT_FALSE(DotProduct(&nest, "c.r0").ok());  // eight steps
  ASSERT_TRUE(Split(&nest, "c.r0", 4, Tail::kExact).ok());
  ASSERT_TRUE(DotProduct(&nest, "c.r0.i").ok());
  ExpectGolden("dot_product", naive, nest);
}

TEST(PrimitivesGolden, TileRows) {
  const loop::Nest naive = ByteNest(5, 16, 8);
  loop::Nest nest = naive;
  ASSERT_TRUE(Pack(&nest, "b", LayoutOf("NC16n4c", 2)).ok());
  ASSERT_TRUE(CacheWrite(&nest, "c").ok());
  ASSERT_TRUE(Split(&nest, "c.i0", 5, Tail::kExact, "c.mb", "c.m").ok());
  ASSERT_TRUE(ComputeAt(&nest, "c.acc", "c.mb", {loop::Scope::kTile, {}, ""}).ok());
  ASSERT_TRUE(DecomposeReduction(&nest, "c.acc.i0").ok());
  ASSERT_TRUE(Split(&nest, "c.acc.r0", 4, Tail::kExact, "c.acc.k", "c.acc.d").ok());
  ASSERT_TRUE(Reorder(&nest, {"c.acc.i0", "c.acc.k", "c.acc.i1", "c.acc.d"}).ok());
  for (const char* lanes : {"c.acc.i1_init", "c.acc.i1", "c.i1"}) {
    ASSERT_TRUE(Vectorize(&nest, lanes).ok());
  }
  EXPECT_FALSE(TileRows(&nest, "c.acc.i0").ok());  // no dot products yet
  ASSERT_TRUE(DotProduct(&nest, "c.acc.d").ok());
  EXPECT_FALSE(TileRows(&nest, "c.acc.k").ok());
  for (const char* rows : {"c.acc.i0_init", "c.acc.i0", "c.m"}) {
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
  ASSERT_TRUE(Split(&fours, "c.r0", 4, Tail::kClip).ok());
  EXPECT_FALSE(DotProduct(&fours, "c.r0.i").ok());
  ASSERT_TRUE(Split(&nest, "c.r0", 2, Tail::kExact).ok());
  EXPECT_TRUE(DotProduct(&nest, "c.r0.i").ok());
}

TEST(Primitives, DotProductRefusesStepsThatAreNoNeighbours) {
  loop::Nest nest = ByteNest();
  ASSERT_TRUE(SetLayout(&nest, "a", LayoutOf("CN", 2)).ok());
  ASSERT_TRUE(Split(&nest, "c.r0", 4, Tail::kClip).ok());
  EXPECT_FALSE(DotProduct(&nest, "c.r0.i").ok());  // not always four
  loop::Nest floats = MatmulNest(2, 3, 4);
  EXPECT_FALSE(DotProduct(&floats, "sum.r0").ok());
}

TEST(PrimitivesGolden, PackOfAConstantIsPrepared) {
  const loop::Nest naive = MatmulNest(3, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Pack(&nest, "b", LayoutOf("NC4n", 2)).ok());
  ASSERT_TRUE(Pack(&nest, "a", LayoutOf("CN", 2)).ok());
  ExpectGolden("pack", naive, nest);
}

TEST(PrimitivesGolden, CacheWrite) {
  const loop::Nest naive = MatmulNest(3, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(CacheWrite(&nest, "sum").ok());
  ExpectGolden("cache_write", naive, nest);
}

// The copy of results in blocks writes all there is, unless these have pad lanes.
TEST(Primitives, CachesBlocksWithoutPads) {
  loop::Nest nest = MatmulNest(3, 6, 4);
  ASSERT_TRUE(SetLayout(&nest, "sum", LayoutOf("NC3c", 2)).ok());
  EXPECT_TRUE(CacheWrite(&nest, "sum").ok());
  ASSERT_TRUE(SetLayout(&nest, "out", LayoutOf("NC4c", 2)).ok());
  EXPECT_FALSE(CacheWrite(&nest, "out").ok());
}

TEST(PrimitivesGolden, Unswitch) {
  const loop::Nest naive = ConvNest(2, 4, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(Unswitch(&nest, "pad.i3").ok());
  ExpectGolden("unswitch", naive, nest);
}

TEST(PrimitivesGolden, PrefetchAhead) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  PrefetchOptions options;
  options.ahead = "sum.i1";
  ASSERT_TRUE(PrefetchAhead(&nest, "sum.r0", "b", options).ok());
  ExpectGolden("prefetch", naive, nest);
}

TEST(PrimitivesGolden, PrefetchesARegionInTurns) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "sum.i1", 2, Tail::kExact, "sum.group", "sum.i1").ok());
  PrefetchRegionOptions options;
  options.ahead = {"gone", "sum.group"};
  options.turns = {"sum.i1"};
  options.line_axis = 1;
  options.line_elements = 4;
  EXPECT_FALSE(PrefetchRegion(&nest, "bias", options).ok());
  const auto refused = [&](const PrefetchRegionOptions& wrong) {
    EXPECT_EQ(PrefetchRegion(&nest, "b", wrong).code(), absl::StatusCode::kFailedPrecondition);
  };
  PrefetchRegionOptions wrong = options;
  wrong.turns = {"gone"};
  refused(wrong);
  wrong = options;
  wrong.line_axis = 2;
  refused(wrong);
  wrong = options;
  wrong.line_elements = 0;
  refused(wrong);
  wrong = options;
  wrong.turns = {"sum.i0", "sum.i1"};  // sum.i0 is around what is ahead
  refused(wrong);
  wrong.turns = {"sum.group", "sum.i1"};  // and sum.group is that
  refused(wrong);
  ASSERT_TRUE(PrefetchRegion(&nest, "b", options).ok());
  ExpectGolden("prefetch_region", naive, nest);
  options.ahead = {"gone"};
  EXPECT_FALSE(PrefetchRegion(&nest, "b", options).ok());
}

// Six turns for two channels of three by three taps: three lines each.
TEST(PrimitivesGolden, PrefetchesARegionOfSeveralAxesInTurns) {
  const loop::Nest naive = ConvNest(4, 3, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "conv.r0", 2, Tail::kExact, "conv.chunk", "conv.r0").ok());
  ASSERT_TRUE(DecomposeReduction(&nest, "conv.i1").ok());
  ASSERT_TRUE(
      Reorder(&nest, {"conv.i1", "conv.chunk", "conv.i2", "conv.r0", "conv.i3"}, true).ok());
  PrefetchRegionOptions options;
  options.ahead = {"conv.i1", "conv.chunk"};
  options.turns = {"conv.i2", "conv.r0"};
  options.line_axis = 0;
  ASSERT_TRUE(PrefetchRegion(&nest, "w", options).ok());
  ExpectGolden("prefetch_region_axes", naive, nest);
}

TEST(PrimitivesGolden, SumsLocally) {
  const loop::Nest naive = MatmulNest(10, 6, 8);
  loop::Nest nest = naive;
  EXPECT_FALSE(SumLocally(&nest, "sum.i0").ok());  // the sum is set to zero there
  ASSERT_TRUE(DecomposeReduction(&nest, "sum.i0").ok());
  ASSERT_TRUE(Split(&nest, "sum.i0", 4, Tail::kClip, "sum.block", "sum.i0").ok());
  ASSERT_TRUE(Split(&nest, "sum.r0", 4, Tail::kExact, "sum.chunk", "sum.r0").ok());
  ASSERT_TRUE(Reorder(&nest, {"sum.chunk", "sum.block", "sum.r0", "sum.i0", "sum.i1"}, true).ok());
  const absl::StatusOr<std::string> acc = SumLocally(&nest, "sum.block");
  ASSERT_TRUE(acc.ok()) << acc.status();
  EXPECT_EQ(*acc, "sum.acc");
  ExpectGolden("sum_locally", naive, nest);
}

TEST(PrimitivesGolden, SkipZeroTermsAndClip) {
  const loop::Nest naive = ConvNest(2, 4, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(InlineStage(&nest, "pad").ok());
  ASSERT_TRUE(DecomposeReduction(&nest, "conv.i0").ok());
  ASSERT_TRUE(SkipZeroTerms(&nest, "conv.i0").ok());
  ASSERT_TRUE(ClipLoop(&nest, "conv.r1").ok());
  ExpectGolden("skip_zero_terms_clip", naive, nest);
}

// Of a row's local sum, the taps of other rows that are padding: bounds of their loop.
TEST(PrimitivesGolden, SkipsZeroTermsOfLocalSums) {
  const loop::Nest naive = ConvNest(4, 3, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(InlineStage(&nest, "pad").ok());
  ASSERT_TRUE(Split(&nest, "conv.r0", 2, Tail::kExact, "conv.chunk", "conv.r0").ok());
  ASSERT_TRUE(DecomposeReduction(&nest, "conv.i1").ok());
  ASSERT_TRUE(
      Reorder(&nest,
              {"conv.i1", "conv.chunk", "conv.i2", "conv.r0", "conv.r1", "conv.r2", "conv.i3"},
              true)
          .ok());
  ASSERT_TRUE(SumLocally(&nest, "conv.i2").ok());
  ASSERT_TRUE(SkipZeroTerms(&nest, "conv.acc.r1").ok());
  ASSERT_TRUE(ClipLoop(&nest, "conv.acc.r1").ok());
  ExpectGolden("skip_zero_terms_local", naive, nest);
}

TEST(PrimitivesGolden, InlinePaddingOfOneAxis) {
  const loop::Nest naive = ConvNest(2, 4, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(InlinePadding(&nest, "pad", 2).ok());
  ExpectGolden("inline_padding", naive, nest);
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
  const auto stages = FilterRows(&nest, "conv2d", 2);
  ASSERT_TRUE(stages.ok()) << stages.status();
  EXPECT_EQ(stages->data, "conv2d.data");
  ExpectGolden("filter_rows", naive, nest);
}

TEST(Primitives, FilterRowsRefusesWhatItCannotFilter) {
  const auto refused = [](loop::Nest nest, const std::string& buffer, int64_t tile) {
    EXPECT_EQ(FilterRows(&nest, buffer, tile).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << buffer << tile;
  };
  refused(DepthwiseNest(2), "conv2d", 2);  // windows two apart
  refused(DepthwiseNest(1), "conv2d", 1);
  refused(DepthwiseNest(1), "conv2d", 30);
  refused(DepthwiseNest(1), "relu", 2);
  refused(ConvNest(3, 4, 2), "conv", 2);  // sums over channels
}

TEST(PrimitivesGolden, Annotations) {
  const loop::Nest naive = MatmulNest(4, 8, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "out.i1", 4, Tail::kExact).ok());
  ASSERT_TRUE(Parallel(&nest, "out.i0").ok());
  ASSERT_TRUE(Unroll(&nest, "out.i1.o").ok());
  ASSERT_TRUE(Vectorize(&nest, "out.i1.i").ok());
  ExpectGolden("annotate", naive, nest);
}

TEST(Primitives, SumLocallyRefusesWhatItCannotSumApart) {
  const auto eight = [](const loop::Expr&) { return loop::Expr(8); };
  const auto ragged = [](const loop::Expr& k) { return k + loop::Expr(1); };
  loop::Nest nest = SumNest(eight, false);
  EXPECT_TRUE(SumLocally(&nest, "t").ok());
  nest = SumNest(ragged, false);
  EXPECT_EQ(SumLocally(&nest, "t").status().code(), absl::StatusCode::kFailedPrecondition);
  nest = SumNest(eight, true);
  EXPECT_EQ(SumLocally(&nest, "t").status().code(), absl::StatusCode::kFailedPrecondition);
}

// Two results of one value, in tiles with a tail; `shift` is how far the second looks into the
// first.
loop::Nest TwoResults(int64_t shift) {
  loop::NestBuilder builder("two");
  const loop::Buffer x = builder.AddInput("x", DataType::kFloat32, {3, 10});
  const loop::Buffer twice = builder.Compute(
      "twice", DataType::kFloat32, {3, 10},
      [&](const std::vector<loop::Expr>& at) { return loop::Load(x, at) + loop::Load(x, at); });
  const loop::Buffer squared = builder.Compute(
      "squared", DataType::kFloat32, {3, 10}, [&](const std::vector<loop::Expr>& at) {
        const loop::Expr near = loop::Min(at[1] + loop::Expr(shift), loop::Expr(9));
        return loop::Load(twice, {at[0], near}) * loop::Load(twice, {at[0], near});
      });
  return builder.Finish({squared, twice});
}

TEST(PrimitivesGolden, MergesLoops) {
  const loop::Nest naive = TwoResults(0);
  loop::Nest nest = naive;
  for (const std::string& stage : {std::string("twice"), std::string("squared")}) {
    ASSERT_TRUE(Split(&nest, stage + ".i1", 4, Tail::kClip).ok());
  }
  ASSERT_TRUE(MergeLoops(&nest, "twice.i0", "squared.i0").ok());
  ASSERT_TRUE(MergeLoops(&nest, "twice.i1.o", "squared.i1.o").ok());
  ExpectGolden("merge_loops", naive, nest);
}

TEST(Primitives, MergeOnlyLoopsOfTheSameStepsSideBySide) {
  const auto refused = [](loop::Nest nest, const std::string& first, const std::string& second) {
    EXPECT_EQ(MergeLoops(&nest, first, second).code(), absl::StatusCode::kFailedPrecondition);
  };
  loop::Nest nest = TwoResults(0);
  refused(nest, "squared.i0", "twice.i0");  // the second is the earlier one
  refused(nest, "twice.i1", "squared.i1");  // in loops of their own
  ASSERT_TRUE(Split(&nest, "squared.i0", 2, Tail::kClip).ok());
  refused(nest, "twice.i0", "squared.i0.o");  // other steps
  loop::Nest shifted = TwoResults(1);
  ASSERT_TRUE(MergeLoops(&shifted, "twice.i0", "squared.i0").ok());
  refused(shifted, "twice.i1", "squared.i1");  // reads what a later iteration writes
}

TEST(Primitives, RefuseWhatWouldChangeTheResult) {
  const auto refused = [](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  };
  loop::Nest nest = MatmulNest(10, 6, 4);
  refused(Split(&nest, "out.i0", 4, Tail::kExact));
  refused(Vectorize(&nest, "sum.r0"));  // carries the sum
  refused(Parallel(&nest, "out.i1"));   // not outermost
  refused(InlineStage(&nest, "sum"));   // a reduction
  refused(InlineStage(&nest, "out"));   // an output
  refused(InlinePadding(&nest, "out", 0));
  refused(ComputeAt(&nest, "out", "sum.i0"));
  refused(Reorder(&nest, {"sum.r0", "sum.i1"}));  // the initialisation is between them
  EXPECT_EQ(Split(&nest, "nowhere", 4, Tail::kClip).code(), absl::StatusCode::kNotFound);
  loop::Nest conv = ConvNest(3, 4, 2);
  refused(InlinePadding(&conv, "pad", 1));  // channels have no padding
  ASSERT_TRUE(DecomposeReduction(&conv, "conv.i0").ok());
  refused(Reorder(&conv, {"conv.r1", "conv.r0"}));  // another order of summation
  EXPECT_TRUE(Reorder(&conv, {"conv.r1", "conv.r0"}, /*allow_reassociation=*/true).ok());
}

// x and conv are joined with out; bias has nothing to join.
TEST(PrimitivesGolden, JoinsLastAxes) {
  const loop::Nest naive = OneTapNest(2, 3, 5, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(JoinLastAxes(&nest, "out").ok());
  ExpectGolden("join_last_axes", naive, nest);
}

// A reduction goes through the axes of what it reads; its result has none.
TEST(PrimitivesGolden, JoinsAxesThatAreReduced) {
  loop::NestBuilder builder("mean");
  constexpr DataType kFloat = DataType::kFloat32;
  const loop::Buffer x = builder.AddInput("x", kFloat, {3, 4, 5});
  using Axes = std::vector<loop::Expr>;
  const loop::Buffer sum = builder.Reduce(
      "sum", kFloat, {3}, {4, 5}, loop::NestBuilder::Combiner::kAdd, loop::FloatConst(0, kFloat),
      [&](const Axes& i, const Axes& r) { return loop::Load(x, {i[0], r[0], r[1]}); });
  const loop::Buffer out = builder.Compute("out", kFloat, {3, 4, 5}, [&](const Axes& i) {
    return loop::Load(x, i) - loop::Load(sum, {i[0]});
  });
  const loop::Nest naive = builder.Finish({out});
  loop::Nest nest = naive;
  ASSERT_TRUE(JoinLastAxes(&nest, "x").ok());
  ExpectGolden("join_last_axes_reduced", naive, nest);
}

TEST(Primitives, JoinsNoAxesThatAreUsedApart) {
  loop::NestBuilder builder("turned");
  constexpr DataType kFloat = DataType::kFloat32;
  const loop::Buffer a = builder.AddInput("a", kFloat, {4, 4});
  const loop::Buffer row = builder.AddInput("row", kFloat, {4});
  const auto refuses = [&](loop::NestBuilder b, const auto& value) {
    const loop::Buffer out = b.Compute("out", kFloat, {4, 4}, value);
    loop::Nest nest = b.Finish({out});
    const std::string before = loop::ToText(nest);
    EXPECT_EQ(JoinLastAxes(&nest, "out").code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(loop::ToText(nest), before);
  };
  using Axes = std::vector<loop::Expr>;
  refuses(builder, [&](const Axes& i) { return loop::Load(a, {i[1], i[0]}); });
  refuses(builder, [&](const Axes& i) { return loop::Load(a, i) + loop::Load(row, {i[1]}); });
}

}  // namespace
}  // namespace hone::schedule
