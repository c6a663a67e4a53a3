#include "support/paired_ratio.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace hone {
namespace {

std::vector<double> Ones(size_t count) { return std::vector<double>(count, 1.0); }

TEST(PairedRatio, IsTheMedianWithTheInnerNineOfFifteenRounds) {
  std::vector<double> base;
  for (int i = 15; i >= 1; --i) base.push_back(i);
  const PairedRatio ratio = RatioOf(base, Ones(15));
  EXPECT_EQ(ratio.median, 8);
  EXPECT_EQ(ratio.low, 4);
  EXPECT_EQ(ratio.high, 12);
}

TEST(PairedRatio, OfElevenRoundsLeavesOutOneAtEitherEnd) {
  std::vector<double> base;
  for (int i = 1; i <= 11; ++i) base.push_back(i);
  const PairedRatio ratio = RatioOf(base, Ones(11));
  EXPECT_EQ(ratio.low, 2);
  EXPECT_EQ(ratio.high, 10);
}

TEST(PairedRatio, OfFewRoundsReachesFromTheLeastToTheGreatest) {
  const PairedRatio ratio = RatioOf({2, 3, 4}, Ones(3));
  EXPECT_EQ(ratio.median, 3);
  EXPECT_EQ(ratio.low, 2);
  EXPECT_EQ(ratio.high, 4);
  EXPECT_EQ(RatioOf({}, {}).median, 1);
}

// Rounds that drift together do not widen it.
TEST(PairedRatio, ComparesWithinRounds) {
  std::vector<double> base;
  std::vector<double> other;
  for (int i = 1; i <= 15; ++i) {
    base.push_back(1.1 * i);
    other.push_back(i);
  }
  const PairedRatio ratio = RatioOf(base, other);
  EXPECT_NEAR(ratio.low, 1.1, 1e-12);
  EXPECT_NEAR(ratio.high, 1.1, 1e-12);
}

TEST(PairedRatio, IntervalsHoldTheTrueMedianAlmostAlways) {
  Random random(7);
  int held = 0;
  constexpr int kTimes = 2000;
  for (int time = 0; time < kTimes; ++time) {
    std::vector<double> base;
    for (int i = 0; i < 15; ++i) base.push_back(1 + random.Uniform());  // its median is 1.5
    const PairedRatio ratio = RatioOf(base, Ones(15));
    held += ratio.low <= 1.5 && 1.5 <= ratio.high;
  }
  EXPECT_GE(held, 0.95 * kTimes);
}

TEST(PairedRatio, ClearlyFasterIsInThreeQuartersOfTheRounds) {
  EXPECT_TRUE(IsClearlyFaster({2, 2, 2, 1}, {1, 1, 1, 2}));
  EXPECT_FALSE(IsClearlyFaster({2, 2, 1, 1}, {1, 1, 2, 2}));
  EXPECT_FALSE(IsClearlyFaster({1, 1, 1, 1}, {1, 1, 1, 1}));
}

}  // namespace
}  // namespace hone
