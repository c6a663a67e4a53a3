// Which constants are timed cold, and what becomes of times of the other regime.
#include "tuner/jobs/regime.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tuner/world.h"

namespace hone::tuner {
namespace {

using tuning_db::Purpose;

constexpr int64_t kMiB = 1 << 20;

TEST(Regime, ConstantsAreWhereTheModelsFit) {
  FakeLowerer lowerer;
  const auto with = lowerer.Open("weights", "NC->NC", kFakeTarget).value();  // 2 MiB
  const auto without = lowerer.Open("pool", "NC->NC", kFakeTarget).value();
  EXPECT_STREQ(RegimeOf(*with, 44 * kMiB), kColdConstants);
  EXPECT_STREQ(RegimeOf(*with, 30 * kMiB), kSharedConstants);
  EXPECT_STREQ(RegimeOf(*with, kMiB / 2), kWarm);
  EXPECT_STREQ(RegimeOf(*with, 2 * kMiB), kWarm) << "there are no others";
  EXPECT_STREQ(RegimeOf(*with, 0), kColdConstants) << "unknown: its own exceed a core's cache";
  EXPECT_STREQ(RegimeOf(*without, 44 * kMiB), kWarm);
  EXPECT_STREQ(RegimeOf(*without, 0), kWarm);
}

TEST(Regime, CopiesFillMoreThanTheCachesThatConstantsAreNotIn) {
  FakeLowerer lowerer;
  const auto task = lowerer.Open("weights", "NC->NC", kFakeTarget).value();
  const TaskContext::Caches caches = task->caches();
  EXPECT_EQ(RotationBytes(kWarm, *task, kMiB), 0);
  const int64_t own = 4 * caches.core * task->threads();
  EXPECT_EQ(RotationBytes(kSharedConstants, *task, kMiB), std::min(own, caches.last_level));
  EXPECT_EQ(RotationBytes(kSharedConstants, *task, 30 * kMiB), 30 * kMiB);
  EXPECT_EQ(RotationBytes(kColdConstants, *task, 44 * kMiB), 2 * caches.last_level);
}

bool IsCold(const hone::v1::Assignment& assignment) {
  return assignment.timing().regime() == kColdConstants;
}

bool AllAre(const std::vector<hone::v1::Assignment>& ran, bool cold) {
  return std::all_of(ran.begin(), ran.end(),
                     [&](const auto& assignment) { return IsCold(assignment) == cold; });
}

TEST(Regime, AJobsConstantsDecideHowItsTrialsAndFinalsAreTimed) {
  for (const bool cold : {false, true}) {
    World world;
    const FakeWorker& worker = world.AddWorker("w1");
    world.Submit(
        {.workloads = {"weights"}, .trials = 16, .constant_bytes = (cold ? 44 : 8) * kMiB});
    world.Run();
    EXPECT_GT(worker.ran.size(), 8u);
    EXPECT_TRUE(AllAre(worker.ran, cold));
  }
}

TEST(Regime, TimesOfAnotherRegimeAreSpentButDecideNothing) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  // Cold, everything takes longer.
  worker.tamper = [](const auto& assignment, auto& result) {
    if (!IsCold(assignment)) return;
    for (auto& candidate : *result.mutable_candidates()) {
      for (double& sample : *candidate.mutable_samples_ns()) sample += 1e6;
    }
  };
  world.Submit(
      {.client_id = "small", .workloads = {"weights"}, .trials = 16, .constant_bytes = 8 * kMiB});
  world.Run();
  worker.ran.clear();
  const int64_t large = world.Submit(
      {.client_id = "large", .workloads = {"weights"}, .trials = 40, .constant_bytes = 44 * kMiB});
  world.Run();
  EXPECT_EQ(world.GetJob(large).state, tuning_db::JobState::kDone);
  EXPECT_TRUE(AllAre(worker.ran, true));
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 40u) << "a budget is a total";
  // A warm best would stop every cold candidate early.
  for (const auto& assignment : worker.ran) {
    const double limit = assignment.timing().stop_above_ns();
    EXPECT_TRUE(limit == 0 || limit > 1e6) << limit;
  }
  const auto final = world.store->NewestFinal(1, "NC->NC").value();
  for (const auto& entry : final->entries) EXPECT_GT(entry.median_ns, 1e6);
}

// The regime of whoever wants the task first may change while its final is measured.
TEST(Regime, AFinalCountsInTheRegimeItWasAskedForIn) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  world.Submit(
      {.client_id = "small", .workloads = {"weights"}, .trials = 16, .constant_bytes = 8 * kMiB});
  while (worker.assignments.empty() || worker.assignments.front().rounds() == 0) {
    ASSERT_TRUE(world.Step());
  }
  const int64_t large = world.Submit({.client_id = "large",
                                      .workloads = {"weights"},
                                      .trials = 16,
                                      .priority = 1,
                                      .constant_bytes = 44 * kMiB});
  world.Run();
  EXPECT_EQ(world.GetJob(large).state, tuning_db::JobState::kDone);
  std::vector<bool> finals;  // whether each was cold
  for (const auto& assignment : worker.ran) {
    if (assignment.rounds() > 0) finals.push_back(IsCold(assignment));
  }
  EXPECT_EQ(finals, (std::vector<bool>{false, true}));
  EXPECT_EQ(world.Records(tuning_db::Purpose::kSearch).size(), 16u);
}

TEST(Regime, AFinalOfAnotherRegimeIsRunAnewWithoutATrial) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  world.Submit({.client_id = "small", .workloads = {"weights"}, .constant_bytes = 8 * kMiB});
  world.Run();
  for (const char* client : {"large", "large again"}) {
    worker.ran.clear();
    world.Submit({.client_id = client, .workloads = {"weights"}, .constant_bytes = 44 * kMiB});
    world.Run();
    EXPECT_EQ(worker.ran.size(), client == std::string("large") ? 1u : 0u) << client;
  }
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 40u);
  EXPECT_GE(world.store->NewestFinal(1, "NC->NC").value()->entries.size(), 2u)
      << "the best of the other regime take part";
}

}  // namespace
}  // namespace hone::tuner
