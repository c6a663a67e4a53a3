// Jobs whose target no connected device has wait, say so, and take nothing from the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/clock.h"
#include "tests/tuner/world.h"

namespace hone::tuner {
namespace {

using ::testing::HasSubstr;
using tuning_db::JobState;
using tuning_db::Purpose;

constexpr char kOtherTarget[] = "llvm -mtriple=aarch64-linux-gnu -mcpu=generic -threads=1";

JobWish Other() {
  return {.client_id = "other",
          .workloads = {"a two_threads", "b two_threads", "c two_threads", "d two_threads"},
          .trials = 24,
          .priority = 5,
          .target = kOtherTarget};
}

TEST(TuningLoopDevices, AJobWithoutADeviceHoldsUpNobody) {
  World world({.max_open_trials = 8, .local_cores = 2});
  world.AddWorker("w1");
  const int64_t other = world.Submit(Other());
  const int64_t job = world.Submit({.workloads = {"conv", "two_threads"}});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.GetJob(other).state, JobState::kRunning);
  EXPECT_TRUE(world.store->OpenTrials(other).value().empty()) << "nothing is proposed in advance";
}

TEST(TuningLoopDevices, AJobSaysWhatItWaitsForAndGoesOnWhenADeviceComes) {
  World world({.max_open_trials = 8, .local_cores = 2});
  const int64_t other = world.Submit(Other());
  world.Run();
  EXPECT_EQ(world.builder->built, 0);
  EXPECT_THAT((world.waiting[{1, "NC->NC"}]), HasSubstr("no connected device has the target"));
  EXPECT_THAT((world.waiting[{1, "NC->NC"}]), HasSubstr("aarch64"));
  EXPECT_THAT(world.store->ListEvents(other, 0, 0).value().back().payload, HasSubstr("aarch64"));
  world.AddWorker("w2", 2, kOtherTarget);
  world.Run();
  EXPECT_EQ(world.GetJob(other).state, JobState::kDone);
  EXPECT_EQ((world.waiting[{1, "NC->NC"}]), "");
  for (int64_t task = 1; task <= 4; ++task) {
    EXPECT_EQ(world.store->CountTrials(task, "NC->NC", Purpose::kSearch).value(), 24);
  }
}

TEST(TuningLoopDevices, ADeviceThatLeavesInTheMiddleHoldsUpNobody) {
  for (const int steps : {30, 60, 100, 150, 220, 300}) {
    World world({.max_open_trials = 8, .local_cores = 2});
    world.AddWorker("w1");
    world.AddWorker("w2", 2, kOtherTarget);
    const int64_t other = world.Submit(Other());
    const int64_t job = world.Submit({.workloads = {"conv", "two_threads"}});
    world.Run(steps);
    world.workers["w2"]->Disconnect(true);
    world.Run();
    world.Wait(10 * kSecondNs);
    ASSERT_EQ(world.GetJob(job).state, JobState::kDone) << steps;
    ASSERT_EQ(world.GetJob(other).state, JobState::kRunning) << steps;
    world.workers["w2"]->Connect();
    world.Run();
    ASSERT_EQ(world.GetJob(other).state, JobState::kDone) << steps;
    ASSERT_EQ(world.store->CountTrials(3, "NC->NC", Purpose::kSearch).value(), 24) << steps;
  }
}

TEST(TuningLoopDevices, AJobWhoseTimeIsUpDoesNotWaitForADeviceForever) {
  World world;
  JobWish wish = Other();
  wish.deadline_ns = 5 * kSecondNs;
  const int64_t other = world.Submit(wish);
  world.Run();
  world.Wait(40 * kSecondNs);
  EXPECT_EQ(world.GetJob(other).state, JobState::kDone);
  EXPECT_THAT(world.GetJob(other).message, HasSubstr("before its budget"));
  EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
}

}  // namespace
}  // namespace hone::tuner
