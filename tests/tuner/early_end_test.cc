// When a search ends before its budget.
#include "tuner/task_scheduler/early_end.h"

#include <gtest/gtest.h>

namespace hone::tuner {
namespace {

constexpr int kBatch = 8;

std::vector<double> Flat(size_t trials) { return std::vector<double>(trials, 100); }

TEST(EarlyEnd, AKernelThatIsTheModelIsSearchedAtFirst) {
  EXPECT_TRUE(IsWorthMore({.share = 1, .times = Flat(1)}, kBatch));
  EXPECT_TRUE(IsWorthMore({.share = 1, .times = Flat(9)}, kBatch));
}

TEST(EarlyEnd, ATaskThatTakesNextToNothingEndsAfterItsFirstBatch) {
  EXPECT_FALSE(IsWorthMore({.share = 1e-4, .times = Flat(1)}, kBatch));
  EXPECT_FALSE(IsWorthMore({.share = 1e-4, .times = {100, 30, 90}}, kBatch))
      << "whatever it gained: nobody would see it";
}

TEST(EarlyEnd, ASearchWithoutGainEndsHoweverMuchItWeighs) {
  EXPECT_FALSE(IsWorthMore({.share = 1, .times = Flat(64)}, kBatch));
}

TEST(EarlyEnd, ASearchThatGainsGoesOn) {
  std::vector<double> times = Flat(64);
  for (size_t i = 0; i < times.size(); ++i) times[i] -= static_cast<double>(i);
  EXPECT_TRUE(IsWorthMore({.share = 0.1, .times = times}, kBatch));
}

TEST(EarlyEnd, TheMoreTrialsTheLessIsExpected) {
  double before = 1;
  for (const size_t trials : {1, 9, 17, 33, 65}) {
    const double gain = ExpectedGain(Flat(trials), kBatch);
    EXPECT_GT(gain, 0);
    EXPECT_LT(gain, before);
    before = gain;
  }
}

TEST(EarlyEnd, FailuresGainNothing) {
  std::vector<double> times = Flat(9);
  for (int i = 0; i < kBatch; ++i) times.push_back(0);
  EXPECT_EQ(ExpectedGain(times, kBatch), ExpectedGain(Flat(17), kBatch));
}

TEST(EarlyEnd, WhereAllFailedAndThenOneDidNotThereIsMuchToExpect) {
  std::vector<double> times(8, 0);
  EXPECT_TRUE(IsWorthMore({.share = 1, .times = times}, kBatch));
  times.push_back(100);
  EXPECT_GT(ExpectedGain(times, kBatch), 0.4);
}

}  // namespace
}  // namespace hone::tuner
