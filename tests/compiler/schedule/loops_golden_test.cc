// Primitives that change loops, stages and layouts: golden/<name>.txt holds the nest after each.
#include "compiler/loop/builder.h"
#include "compiler/schedule/primitives/annotate.h"
#include "compiler/schedule/primitives/cache_read.h"
#include "compiler/schedule/primitives/cache_write.h"
#include "compiler/schedule/primitives/clone_stage.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/grow_stage.h"
#include "compiler/schedule/primitives/inline_padding.h"
#include "compiler/schedule/primitives/inline_stage.h"
#include "compiler/schedule/primitives/join_axes.h"
#include "compiler/schedule/primitives/load_ahead.h"
#include "compiler/schedule/primitives/merge_loops.h"
#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/primitives/pad_stage.h"
#include "compiler/schedule/primitives/peel.h"
#include "compiler/schedule/primitives/pipeline_copies.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/set_layout.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/split_axis.h"
#include "compiler/schedule/primitives/unswitch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/golden_nest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/test_nests.h"

namespace hone::schedule {
namespace {

TEST(PrimitivesGolden, SplitClips) {
  const loop::Nest naive = MatmulNest(10, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("out.i0"), 4, Tail::kClip).ok());
  ExpectGolden("split_clip", naive, nest);
}

TEST(PrimitivesGolden, SplitGuards) {
  const loop::Nest naive = MatmulNest(10, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("out.i0"), 4, Tail::kGuard).ok());
  ExpectGolden("split_guard", naive, nest);
}

// A tile that is clipped fits one whole tile with a guard.
TEST(Primitives, SplitKnowsThatAClippedTileIsOneTile) {
  const loop::Nest naive = MatmulNest(10, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("out.i0"), 4, Tail::kClip).ok());
  ASSERT_TRUE(Split(&nest, Loop("out.i0.i"), 4, Tail::kGuard).ok());
  EXPECT_NE(ToText(nest).find("for out.i0.i.o in 0..1 {"), std::string::npos) << ToText(nest);
  ExpectSameResults(naive, nest, 1, "a clipped tile with a guard");
}

TEST(PrimitivesGolden, PeelGivesTheTailASizeOfItsOwn) {
  const loop::Nest naive = MatmulNest(10, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("out.i0"), 4, Tail::kClip).ok());
  ASSERT_TRUE(Peel(&nest, Loop("out.i0.o"), 0, 1).ok());
  ExpectGolden("peel", naive, nest);
}

TEST(PrimitivesGolden, PeelOfAParallelLoopBranchesInside) {
  const loop::Nest naive = MatmulNest(10, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("out.i0"), 4, Tail::kClip).ok());
  ASSERT_TRUE(Parallel(&nest, Loop("out.i0.o")).ok());
  ASSERT_TRUE(Peel(&nest, Loop("out.i0.o"), 0, 1).ok());
  ExpectGolden("peel_parallel", naive, nest);
}

TEST(PrimitivesGolden, Inline) {
  const loop::Nest naive = TransposeNest(4, 6);
  loop::Nest nest = naive;
  ASSERT_TRUE(InlineStage(&nest, Stage("twice")).ok());
  ExpectGolden("inline_stage", naive, nest);
}

TEST(PrimitivesGolden, ComputeAtInfersTheRegion) {
  const loop::Nest naive = ConvNest(2, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("conv.i2"), 4, Tail::kClip).ok());
  ASSERT_TRUE(
      ComputeAt(&nest, Stage("pad"), Loop("conv.i2.o"), {loop::Scope::kLocal, {}, ""}).ok());
  ExpectGolden("compute_at", naive, nest);
}

TEST(PrimitivesGolden, CacheReadAtALoop) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  const absl::StatusOr<Stage> copy = CacheRead(&nest, "a", Stage("sum"));
  ASSERT_TRUE(copy.ok()) << copy.status();
  ASSERT_TRUE(ComputeAt(&nest, *copy, Loop("sum.i0"), {loop::Scope::kShared, {}, ""}).ok());
  ASSERT_TRUE(Threads(&nest, Loop("sum.i1")).ok());
  ExpectGolden("cache_read", naive, nest);
}

// total[i] = sum of x[i, ..]; out[i, j] = x[i, j] * total[i] + sum over k of x[i, k] * total[i].
loop::Nest RowsNest(int64_t rows, int64_t columns) {
  using Axes = const std::vector<loop::Expr>&;
  constexpr DataType kType = DataType::kFloat32;
  loop::NestBuilder builder("rows");
  const loop::Buffer x = builder.AddInput("x", kType, {rows, columns});
  const auto reduce = [&](const char* name, const auto& term) {
    return builder.Reduce(name, kType, {rows}, std::vector<int64_t>{columns},
                          loop::NestBuilder::Combiner::kAdd, loop::Const(0, kType), term);
  };
  const loop::Buffer total =
      reduce("total", [&](Axes i, Axes r) { return loop::Load(x, {i[0], r[0]}); });
  const loop::Buffer scaled = reduce("scaled", [&](Axes i, Axes r) {
    return loop::Load(x, {i[0], r[0]}) * loop::Load(total, {i[0]});
  });
  const loop::Buffer out = builder.Compute("out", kType, {rows, columns}, [&](Axes i) {
    return loop::Load(x, i) * loop::Load(total, {i[0]}) + loop::Load(scaled, {i[0]});
  });
  return builder.Finish({out});
}

TEST(PrimitivesGolden, CacheReadOfSeveralReaders) {
  const loop::Nest naive = RowsNest(3, 5);
  loop::Nest nest = naive;
  ASSERT_TRUE(CacheRead(&nest, "x", {Stage("total"), Stage("out")}).ok());
  ExpectGolden("cache_read_several", naive, nest);
  EXPECT_FALSE(CacheRead(&nest, "x", std::vector<Stage>{}).ok());
}

TEST(PrimitivesGolden, ClonesAStageForAReader) {
  const loop::Nest naive = RowsNest(3, 5);
  loop::Nest nest = naive;
  EXPECT_FALSE(CloneStage(&nest, Stage("scaled"), Stage("total")).ok()) << "reads it not";
  EXPECT_FALSE(CloneStage(&nest, Stage("x"), Stage("total")).ok()) << "no stage";
  EXPECT_EQ(ToText(nest), ToText(naive));
  const absl::StatusOr<Stage> clone = CloneStage(&nest, Stage("total"), Stage("scaled"));
  ASSERT_TRUE(clone.ok()) << clone.status();
  EXPECT_EQ(*clone, Stage("total.again"));
  ASSERT_TRUE(ComputeAt(&nest, *clone, Loop("scaled.i0")).ok());
  ASSERT_TRUE(ComputeAt(&nest, Stage("total"), Loop("out.i0")).ok());
  ExpectGolden("clone_stage", naive, nest);
}

TEST(PrimitivesGolden, SplitsAnAxisOfWhatIsAllocated) {
  const loop::Nest naive = MatmulNest(4, 10, 8);
  loop::Nest nest = naive;
  ASSERT_TRUE(ComputeAt(&nest, Stage("sum"), Loop("out.i0")).ok());
  ASSERT_TRUE(Split(&nest, Loop("out.i1"), 4, Tail::kGuard).ok());
  const std::string before = ToText(nest);
  EXPECT_FALSE(SplitAxis(&nest, "out", 1, 4).ok()) << "visible outside";
  EXPECT_FALSE(SplitAxis(&nest, "sum", 2, 4).ok()) << "two axes";
  EXPECT_FALSE(SplitAxis(&nest, "sum", 1, 0).ok());
  EXPECT_EQ(ToText(nest), before);
  ASSERT_TRUE(SplitAxis(&nest, "sum", 1, 4).ok());
  ExpectGolden("split_axis", naive, nest);
}

TEST(PrimitivesGolden, PadStageOfTilesThatAreWhole) {
  const loop::Nest naive = MatmulNest(5, 6, 4);
  loop::Nest nest = naive;
  const absl::StatusOr<Stage> copy = CacheRead(&nest, "a", Stage("sum"));
  ASSERT_TRUE(copy.ok()) << copy.status();
  ASSERT_TRUE(PadStage(&nest, *copy, {8, 4}).ok());
  ASSERT_TRUE(Split(&nest, Loop("out.i0"), 4, Tail::kGuard).ok());
  ASSERT_TRUE(ComputeAt(&nest, Stage("sum"), Loop("out.i0.o")).ok());
  ExpectGolden("pad_stage", naive, nest);
}

TEST(PrimitivesGolden, GrowStageThatReadsPaddedCopies) {
  const loop::Nest naive = MatmulNest(5, 6, 4);
  loop::Nest nest = naive;
  const absl::StatusOr<Stage> copy = CacheRead(&nest, "a", Stage("sum"));
  ASSERT_TRUE(copy.ok()) << copy.status();
  ASSERT_TRUE(PadStage(&nest, *copy, {8, 4}).ok());
  ASSERT_TRUE(GrowStage(&nest, Stage("sum"), {8, 6}).ok());
  ExpectGolden("grow_stage", naive, nest);
}

// What is prepared is copied before it is read.
TEST(Primitives, CacheWriteKeepsThePhase) {
  const loop::Nest naive = MatmulNest(3, 6, 4);
  loop::Nest nest = naive;
  const absl::StatusOr<Stage> packed = Pack(&nest, "bias", *Layout::Parse("C4c", 1));
  ASSERT_TRUE(packed.ok()) << packed.status();
  const absl::StatusOr<Stage> copy = CacheRead(&nest, "bias", *packed);
  ASSERT_TRUE(copy.ok()) << copy.status();
  ASSERT_TRUE(CacheWrite(&nest, *copy).ok());
  for (const loop::Launch& launch : nest.launches) {
    if (!launch.name.starts_with("bias")) continue;
    EXPECT_EQ(launch.phase, loop::Phase::kPrepare) << launch.name;
  }
}

TEST(PrimitivesGolden, LoadsAheadWhatTheNextStepsCopy) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  const absl::StatusOr<Stage> copy = CacheRead(&nest, "a", Stage("sum"));
  ASSERT_TRUE(copy.ok()) << copy.status();
  ASSERT_TRUE(Split(&nest, Loop("sum.r0"), 2, Tail::kExact).ok());
  const Loop steps("sum.r0.o");
  ASSERT_TRUE(ComputeAt(&nest, *copy, steps, {loop::Scope::kShared, {}, ""}).ok());
  const std::string before = ToText(nest);
  EXPECT_FALSE(LoadAhead(&nest, Loop("sum.r0.i"), *copy).ok()) << "the copy is not in its body";
  EXPECT_FALSE(LoadAhead(&nest, steps, Stage("b")).ok()) << "no copy";
  EXPECT_EQ(ToText(nest), before);
  ASSERT_TRUE(LoadAhead(&nest, steps, *copy).ok());
  ExpectGolden("load_ahead", naive, nest);
}

TEST(PrimitivesGolden, PipelinesCopiesOfBothFactors) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  const absl::StatusOr<Stage> a = CacheRead(&nest, "a", Stage("sum"));
  ASSERT_TRUE(a.ok()) << a.status();
  const absl::StatusOr<Stage> b = CacheRead(&nest, "b", Stage("sum"));
  ASSERT_TRUE(b.ok()) << b.status();
  ASSERT_TRUE(Split(&nest, Loop("sum.r0"), 2, Tail::kExact).ok());
  const Loop steps("sum.r0.o");
  ASSERT_TRUE(ComputeAt(&nest, *a, steps, {loop::Scope::kShared, {}, ""}).ok());
  ASSERT_TRUE(ComputeAt(&nest, *b, steps, {loop::Scope::kShared, {}, "CN", {0, 2}}).ok());
  const std::string before = ToText(nest);
  EXPECT_FALSE(PipelineCopies(&nest, steps, {*a, *b}, 1).ok()) << "a single slot";
  EXPECT_FALSE(PipelineCopies(&nest, steps, {*a, *b}, 2, 1).ok()) << "a single slot for copies";
  EXPECT_FALSE(PipelineCopies(&nest, steps, {}, 3).ok()) << "no copies";
  EXPECT_FALSE(PipelineCopies(&nest, Loop("sum.r0.i"), {*a}, 3).ok()) << "not in its body";
  EXPECT_FALSE(PipelineCopies(&nest, steps, {*a, Stage("c")}, 3).ok()) << "no copy";
  EXPECT_EQ(ToText(nest), before);
  loop::Nest other_order = nest, slot_behind = nest;
  ASSERT_TRUE(PipelineCopies(&nest, steps, {*a, *b}, 3).ok());
  ExpectGolden("pipeline_copies", naive, nest);
  // There are no more slots than iterations, and it does not matter which copy comes first.
  ASSERT_TRUE(PipelineCopies(&other_order, steps, {*b, *a}, 8).ok());
  EXPECT_THAT(ToText(other_order), testing::HasSubstr("float32[4, "));
  ExpectSameResults(naive, other_order, 1, "more slots than iterations");
  ASSERT_TRUE(PipelineCopies(&slot_behind, steps, {*a, *b}, 4, 1).ok());
  EXPECT_THAT(ToText(slot_behind), testing::HasSubstr("floormod(sum.r0.o + 2, 4)"));
  ExpectSameResults(naive, slot_behind, 1, "a slot is left alone");
}

TEST(PrimitivesGolden, DecomposeAndReorder) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("sum.i0")).ok());
  ASSERT_TRUE(Reorder(&nest, {Loop("sum.r0"), Loop("sum.i0"), Loop("sum.i1")}).ok());
  ExpectGolden("decompose_reorder", naive, nest);
}

TEST(PrimitivesGolden, SetLayoutPads) {
  const loop::Nest naive = MatmulNest(3, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(SetLayout(&nest, "out", *Layout::Parse("NC4c", 2)).ok());
  ExpectGolden("set_layout", naive, nest);
}

TEST(PrimitivesGolden, PackOfAConstantIsPrepared) {
  const loop::Nest naive = MatmulNest(3, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Pack(&nest, "b", *Layout::Parse("NC4n", 2)).ok());
  ASSERT_TRUE(Pack(&nest, "a", *Layout::Parse("CN", 2)).ok());
  ExpectGolden("pack", naive, nest);
}

TEST(PrimitivesGolden, CacheWrite) {
  const loop::Nest naive = MatmulNest(3, 6, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(CacheWrite(&nest, Stage("sum")).ok());
  ExpectGolden("cache_write", naive, nest);
}

// The copy of results in blocks writes all there is, unless these have pad lanes.
TEST(Primitives, CachesBlocksWithoutPads) {
  loop::Nest nest = MatmulNest(3, 6, 4);
  ASSERT_TRUE(SetLayout(&nest, "sum", *Layout::Parse("NC3c", 2)).ok());
  EXPECT_TRUE(CacheWrite(&nest, Stage("sum")).ok());
  ASSERT_TRUE(SetLayout(&nest, "out", *Layout::Parse("NC4c", 2)).ok());
  EXPECT_FALSE(CacheWrite(&nest, Stage("out")).ok());
}

TEST(PrimitivesGolden, Unswitch) {
  const loop::Nest naive = ConvNest(2, 4, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(Unswitch(&nest, Loop("pad.i3")).ok());
  ExpectGolden("unswitch", naive, nest);
}

TEST(PrimitivesGolden, InlinePaddingOfOneAxis) {
  const loop::Nest naive = ConvNest(2, 4, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(InlinePadding(&nest, Stage("pad"), 2).ok());
  ExpectGolden("inline_padding", naive, nest);
}

TEST(PrimitivesGolden, Annotations) {
  const loop::Nest naive = MatmulNest(4, 8, 4);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, Loop("out.i1"), 4, Tail::kExact).ok());
  ASSERT_TRUE(Parallel(&nest, Loop("out.i0")).ok());
  ASSERT_TRUE(Unroll(&nest, Loop("out.i1.o")).ok());
  ASSERT_TRUE(Vectorize(&nest, Loop("out.i1.i")).ok());
  ExpectGolden("annotate", naive, nest);
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
  for (const Stage& stage : {Stage("twice"), Stage("squared")}) {
    ASSERT_TRUE(Split(&nest, stage.Axis(1), 4, Tail::kClip).ok());
  }
  ASSERT_TRUE(MergeLoops(&nest, Loop("twice.i0"), Loop("squared.i0")).ok());
  ASSERT_TRUE(MergeLoops(&nest, Loop("twice.i1.o"), Loop("squared.i1.o")).ok());
  ExpectGolden("merge_loops", naive, nest);
}

TEST(Primitives, MergeOnlyLoopsOfTheSameStepsSideBySide) {
  const auto refused = [](loop::Nest nest, const std::string& first, const std::string& second) {
    EXPECT_EQ(MergeLoops(&nest, Loop(first), Loop(second)).code(),
              absl::StatusCode::kFailedPrecondition);
  };
  loop::Nest nest = TwoResults(0);
  refused(nest, "squared.i0", "twice.i0");  // the second is the earlier one
  refused(nest, "twice.i1", "squared.i1");  // in loops of their own
  ASSERT_TRUE(Split(&nest, Loop("squared.i0"), 2, Tail::kClip).ok());
  refused(nest, "twice.i0", "squared.i0.o");  // other steps
  loop::Nest shifted = TwoResults(1);
  ASSERT_TRUE(MergeLoops(&shifted, Loop("twice.i0"), Loop("squared.i0")).ok());
  refused(shifted, "twice.i1", "squared.i1");  // reads what a later iteration writes
}

TEST(Primitives, RefuseWhatWouldChangeTheResult) {
  const auto refused = [](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  };
  loop::Nest nest = MatmulNest(10, 6, 4);
  refused(Split(&nest, Loop("out.i0"), 4, Tail::kExact));
  refused(Vectorize(&nest, Loop("sum.r0")));  // carries the sum
  refused(Parallel(&nest, Loop("out.i1")));   // not outermost
  refused(InlineStage(&nest, Stage("sum")));  // a reduction
  refused(InlineStage(&nest, Stage("out")));  // an output
  refused(InlinePadding(&nest, Stage("out"), 0));
  refused(ComputeAt(&nest, Stage("out"), Loop("sum.i0")));
  refused(Reorder(&nest, {Loop("sum.r0"), Loop("sum.i1")}));  // the initialisation is between them
  refused(PadStage(&nest, Stage("sum"), {12, 6}));            // a reduction
  refused(PadStage(&nest, Stage("out"), {12, 6}));            // an output
  EXPECT_EQ(PadStage(&nest, Stage("sum"), {9, 6}).code(), absl::StatusCode::kInvalidArgument);
  refused(GrowStage(&nest, Stage("sum"), {12, 6}));  // would read behind the end of `a`
  refused(GrowStage(&nest, Stage("out"), {12, 6}));  // an output
  EXPECT_EQ(Split(&nest, Loop("nowhere"), 4, Tail::kClip).code(), absl::StatusCode::kNotFound);
  loop::Nest conv = ConvNest(3, 4, 2);
  refused(InlinePadding(&conv, Stage("pad"), 1));  // channels have no padding
  ASSERT_TRUE(DecomposeReduction(&conv, Loop("conv.i0")).ok());
  refused(Reorder(&conv, {Loop("conv.r1"), Loop("conv.r0")}));  // another order of summation
  EXPECT_TRUE(
      Reorder(&conv, {Loop("conv.r1"), Loop("conv.r0")}, /*allow_reassociation=*/true).ok());
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
