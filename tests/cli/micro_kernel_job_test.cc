// Which micro-kernels are measured before a job.
#include "cli/micro_kernel_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/clock.h"

namespace hone::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MicroKernelPlanTest : public ::testing::Test {
 protected:
  // Costs of the first so many configs of the tiles and of the stream.
  MicroKernelCosts Settled(int64_t tiles, int64_t stream) const {
    MicroKernelCosts costs(2);
    for (const auto& [task, count] : {std::pair<size_t, int64_t>(0, tiles), {1, stream}}) {
      for (int64_t i = 0; i < count; ++i) {
        costs[task].push_back({tasks_[task].configs[static_cast<size_t>(i)], 1.0, ""});
      }
    }
    return costs;
  }
  std::vector<std::string> Planned(const MicroKernelCosts& settled, int64_t budget) const {
    std::vector<std::string> names;
    for (const auto& task : PlanMicroKernels(target_, settled, budget).tasks) {
      names.push_back(task.name);
    }
    return names;
  }

  const CpuTarget target_ = *CpuTarget::Parse("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4");
  const std::vector<schedule::MicroKernelTask> tasks_ = schedule::MicroKernelTasksOf(target_);
  const int64_t tiles_ = static_cast<int64_t>(tasks_[0].configs.size());
  const int64_t stream_ = static_cast<int64_t>(tasks_[1].configs.size());
};

TEST_F(MicroKernelPlanTest, ANewTargetsAreMeasuredAsFarAsTheyFitTilesFirst) {
  const MicroKernelCosts none = Settled(0, 0);
  EXPECT_THAT(Planned(none, tiles_ + stream_), ElementsAre("tiles", "stream"));
  EXPECT_THAT(Planned(none, tiles_ + stream_ - 1), ElementsAre("tiles"));
  EXPECT_THAT(Planned(none, tiles_ - 1), IsEmpty()) << "a stream alone is of no use";
  EXPECT_THAT(Planned({}, tiles_ + stream_), ElementsAre("tiles", "stream"));
}

TEST_F(MicroKernelPlanTest, OnlyWhatIsMissingMustFit) {
  EXPECT_THAT(Planned(Settled(tiles_, 0), stream_), ElementsAre("stream"));
  EXPECT_THAT(Planned(Settled(tiles_, 0), stream_ - 1), IsEmpty());
  EXPECT_THAT(Planned(Settled(0, stream_), tiles_), ElementsAre("tiles"));
  EXPECT_THAT(Planned(Settled(0, stream_), tiles_ - 1), IsEmpty());
  EXPECT_THAT(Planned(Settled(tiles_ - 3, stream_), 3), ElementsAre("tiles"));
  EXPECT_THAT(Planned(Settled(tiles_ - 3, stream_ - 2), 4), ElementsAre("tiles"));
  EXPECT_THAT(Planned(Settled(tiles_, stream_), 1 << 20), IsEmpty());
}

TEST_F(MicroKernelPlanTest, WhatNothingIsMissingOfIsATableWhateverToolchainsBuiltIt) {
  MicroKernelCosts costs = Settled(tiles_, stream_);
  for (auto& of_task : costs) {
    for (size_t i = 0; i < of_task.size(); ++i) of_task[i].toolchain = i < 3 ? "code 2" : "code 3";
  }
  EXPECT_THAT(Planned(costs, 1 << 20), IsEmpty());
  const auto times = schedule::MicroKernelTimes::Of(target_, costs);
  ASSERT_NE(times, nullptr);
  EXPECT_NE(times->StreamBytesACycle(), std::nullopt);
}

TEST_F(MicroKernelPlanTest, ItsTrialsAreThoseThatAreNotSettled) {
  EXPECT_EQ(PlanMicroKernels(target_, Settled(tiles_ - 3, stream_ - 2), 1000).trials, 5);
  MicroKernelCosts others = Settled(tiles_, 1);
  others[1][0].config = "of another space";
  EXPECT_EQ(PlanMicroKernels(target_, others, 1000).trials, stream_);
}

TEST(MicroKernelLimit, IsAQuarterOfTheTimeLimitForAllOfThem) {
  EXPECT_EQ(MicroKernelLimitNs(20 * kSecondNs, 0), 5 * kSecondNs);
  EXPECT_EQ(MicroKernelLimitNs(20 * kSecondNs, 2 * kSecondNs), 3 * kSecondNs);
  EXPECT_EQ(MicroKernelLimitNs(20 * kSecondNs, 5 * kSecondNs), std::nullopt);
  EXPECT_EQ(MicroKernelLimitNs(20 * kSecondNs, 6 * kSecondNs), std::nullopt);
  EXPECT_EQ(MicroKernelLimitNs(0, 6 * kSecondNs), 0) << "there is no limit";
}

}  // namespace
}  // namespace hone::cli
