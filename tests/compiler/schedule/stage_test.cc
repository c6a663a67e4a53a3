// Handles of stages and loops: how they are named, and what they are not made of.
#include "compiler/schedule/primitives/stage.h"

#include <string>
#include <type_traits>

#include "compiler/schedule/conv/loops.h"
#include "gtest/gtest.h"

namespace hone::schedule {
namespace {

// Text is no handle unless one says so, and neither handle is the other, or text.
static_assert(!std::is_convertible_v<std::string, Loop>);
static_assert(!std::is_convertible_v<const char*, Loop>);
static_assert(!std::is_convertible_v<std::string, Stage>);
static_assert(!std::is_convertible_v<Loop, std::string>);
static_assert(!std::is_convertible_v<Stage, std::string>);
static_assert(!std::is_constructible_v<Loop, Stage>);
static_assert(!std::is_constructible_v<Stage, Loop>);
static_assert(!std::is_convertible_v<Stage, ConvLoops>);

TEST(Stage, NamesItsLoops) {
  const Stage stage("conv.acc");
  EXPECT_EQ(stage.buffer(), "conv.acc");
  EXPECT_EQ(stage.Axis(2).name(), "conv.acc.i2");
  EXPECT_EQ(stage.Reduction(0).name(), "conv.acc.r0");
  EXPECT_EQ(stage.Lane().name(), "conv.acc.lane");
  ASSERT_EQ(stage.Axes(2).size(), 2U);
  EXPECT_EQ(stage.Axes(2)[1], stage.Axis(1));
  EXPECT_TRUE(Stage().empty());
  EXPECT_TRUE(Loop().empty());
}

TEST(Stage, NamesLoopsOfItsInitialisation) {
  const ConvLoops stage{Stage("conv")};
  EXPECT_EQ(stage.Init().Axis(1), stage.Axis(1).Init());
  EXPECT_EQ(stage.Init().ChannelVectors(), stage.ChannelVectors().Init());
  EXPECT_EQ(stage.Lane().Init().name(), "conv.lane_init");
  EXPECT_EQ(stage.Init().Lane().WithoutInit(), stage.Lane());
  EXPECT_EQ(stage.Lane().Init().Init(), stage.Lane().Init());
  EXPECT_EQ(stage.Init().buffer(), stage.buffer());
}

TEST(Stage, KnowsItsLoopsByName) {
  const Stage conv("conv"), sums = conv.Sums();
  EXPECT_EQ(sums.buffer(), "conv.acc");
  EXPECT_TRUE(conv.Owns("conv.i0"));
  EXPECT_FALSE(conv.Owns("conv2d.i0"));
  EXPECT_FALSE(conv.Owns("conv"));
  EXPECT_EQ(conv.NameIn(sums, "conv.i0"), "conv.acc.i0");
  EXPECT_EQ(conv.NameIn(sums, "relu.i0"), "relu.i0");
}

// Copies that peeling makes of a loop are found by its name: that of a part of an initialisation's
// loop must not begin with it.
TEST(Loop, NamesItsParts) {
  const Loop axis = Stage("conv").Axis(3);
  EXPECT_EQ(axis.Outer().name(), "conv.i3.o");
  EXPECT_EQ(axis.Phase().name(), "conv.i3.phase");
  EXPECT_EQ(axis.Init().Lanes(), axis.Lanes().Init());
  EXPECT_EQ(axis.Init().Lanes().name(), "conv.i3.vec_init");
}

TEST(Loop, KnowsItsStage) {
  const Loop lane = ConvLoops(Stage("conv.acc")).InputBlocks();
  EXPECT_EQ(lane.stage(), "conv.acc");
  EXPECT_EQ(lane.word(), "icb");
  EXPECT_EQ(lane.Init().stage(), "conv.acc");
  EXPECT_EQ(lane.Tile().stage(), "conv.acc");
  EXPECT_EQ(Loop("t").stage(), "");
  EXPECT_EQ(Loop("t").word(), "t");
}

}  // namespace
}  // namespace hone::schedule
