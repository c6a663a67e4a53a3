// Loops that a sequence does not find: which of them are errors, and what these say.
#include "compiler/schedule/rewrite/sequence.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/test_nests.h"

namespace hone::schedule {
namespace {

using testing::HasSubstr;

absl::Status StatusOf(Sequence s) { return std::move(s).Finish().status(); }

const Stage kOut("out"), kSum("sum");

TEST(Sequence, AnswersTheLoopsOfASplit) {
  Sequence s(MatmulNest(8, 6, 4));
  const auto [outer, inner] = s.Split(kOut.Axis(0), 4, Tail::kExact);
  EXPECT_EQ(outer, kOut.Axis(0).Outer());
  const auto [tiles, rows] = s.Split(inner, 2, Tail::kExact, inner.Tile(), inner.Row());
  for (const Loop& loop : {outer, tiles, rows}) EXPECT_EQ(s.Find(loop), loop);
  EXPECT_EQ(s.Find(inner), std::nullopt);
  EXPECT_TRUE(StatusOf(s).ok());
}

TEST(Sequence, AnswersTheStageThatAPrimitiveMakes) {
  Sequence s(MatmulNest(8, 6, 4));
  const Stage acc = s.CacheWrite(kSum);
  EXPECT_TRUE(s.Has(acc.Reduction(0)));
  EXPECT_TRUE(s.Has(kSum.Axis(0)));
  EXPECT_FALSE(s.Has(kSum.Reduction(0)));
  const Stage packed = s.Pack("a", *Layout::Parse("CN", 2));
  EXPECT_TRUE(s.Has(packed.Axis(1)));
  EXPECT_TRUE(StatusOf(s).ok());
}

TEST(Sequence, SaysWhichLoopOfWhichStageIsMissing) {
  Sequence s(MatmulNest(8, 6, 4));
  s.Vectorize(kSum.Lane());
  s.Unroll(kOut.Lane());  // the first error stays
  const absl::Status status = StatusOf(s);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "Vectorize: expected a loop 'lane' of stage 'sum', found i0, i1, r0");
}

TEST(Sequence, SaysThatAStageHasNoLoops) {
  Sequence s(MatmulNest(8, 6, 4));
  s.Split(Stage("other").Axis(0), 2, Tail::kClip);
  EXPECT_THAT(std::string(StatusOf(s).message()),
              HasSubstr("Split: expected a loop 'i0' of stage 'other', found none of that stage"));
}

// One iteration is no loop: what was there may be gone, what never was is a mistake.
TEST(Sequence, StepsOnAllCopiesTakeLoopsThatAreGoneAndNoOthers) {
  Sequence s(MatmulNest(8, 1, 4));
  s.Decompose(kSum.Axis(0));
  s.Simplify();
  ASSERT_FALSE(s.Has(kOut.Axis(1)));
  s.UnrollAll(kOut.Axis(1));
  s.PeelAll(kSum.Axis(1), 0, 1);
  s.VectorizeAll(kSum.Axis(1).Init());
  EXPECT_TRUE(StatusOf(s).ok()) << StatusOf(s);
  s.UnrollAll(kOut.Reduction(0));
  EXPECT_THAT(std::string(StatusOf(s).message()),
              HasSubstr("UnrollAll: expected a loop 'r0' of stage 'out'"));
}

TEST(Sequence, WhatIsSplitOffALoopThatIsGoneIsGone) {
  Sequence s(MatmulNest(8, 1, 4));
  s.Simplify();
  const Loop axis = kOut.Axis(1);
  s.SplitIfPresent(axis, 4, Tail::kClip, axis.Tile(), axis.Lane());
  s.VectorizeAll(axis.Lane());
  EXPECT_TRUE(StatusOf(s).ok()) << StatusOf(s);
  s.SplitIfPresent(kOut.Reduction(0), 4, Tail::kClip, axis.Row(), axis.Strip());
  s.UnrollAll(axis.Row());
  EXPECT_EQ(StatusOf(s).code(), absl::StatusCode::kNotFound);
}

TEST(Sequence, LoopsThatAreGoneAreSoInStagesMadeOfTheirs) {
  Sequence s(MatmulNest(8, 1, 4));
  s.Simplify();
  ASSERT_FALSE(s.Has(kSum.Axis(1)));
  const Loop row = kSum.Axis(0);
  s.Decompose(row);
  s.Split(kSum.Reduction(0), 2, Tail::kExact, kSum.Reduction(0), kSum.Lane());
  s.Reorder({kSum.Reduction(0), row, kSum.Lane()}, /*allow_reassociation=*/true);
  const Stage acc = s.SumLocally(row);
  EXPECT_TRUE(s.Has(acc.Lane())) << StatusOf(s);
  s.UnrollAll(acc.Axis(1));
  EXPECT_TRUE(StatusOf(s).ok()) << StatusOf(s);
}

TEST(Sequence, StepsOnWhatIsPresentTakeAny) {
  Sequence s(MatmulNest(8, 6, 4));
  s.UnrollPresent({kSum.Lane(), kOut.Axis(1)});
  s.ReorderPresent({kSum.Lane(), kOut.Axis(1)});
  s.ParallelIfPresent(kSum.Lane());
  EXPECT_TRUE(StatusOf(s).ok()) << StatusOf(s);
}

}  // namespace
}  // namespace hone::schedule
