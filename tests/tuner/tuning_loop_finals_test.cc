// Finals on devices that time badly, come late, or die.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/clock.h"
#include "tests/tuner/world.h"

namespace hone::tuner {
namespace {

using ::testing::HasSubstr;
using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Purpose;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The first `rounds` of one entry of every final have no time; the first `times` finals only.
void LoseRounds(FakeWorker& worker, int entry, int rounds, int times) {
  worker.tamper = [=, left = times](const auto& assignment, auto& result) mutable {
    if (assignment.rounds() == 0 || left-- <= 0) return;
    for (int round = 0; round < rounds; ++round) {
      result.mutable_candidates(entry)->set_samples_ns(round, kNone);
    }
  };
}

int RoundsIn(const World& world) { return world.options.final_rounds; }

int FinalsRun(const FakeWorker& worker) {
  return static_cast<int>(std::count_if(worker.ran.begin(), worker.ran.end(),
                                        [](const auto& ran) { return ran.rounds() > 0; }));
}

TEST(TuningLoopFinals, AFinalWithMissingRoundsIsMeasuredAgain) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  LoseRounds(worker, 0, RoundsIn(world) - 1, 2);
  const int64_t job = world.Submit({});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone) << world.GetJob(job).message;
  EXPECT_EQ(FinalsRun(worker), 3);
  const auto final = world.store->NewestFinal(1, "NC->NC").value();
  EXPECT_EQ(static_cast<int>(final->entries[0].round_ns.size()), RoundsIn(world));
  EXPECT_EQ(world.Records(Purpose::kConfirm).size(), 1u);
}

TEST(TuningLoopFinals, AfterThreeAttemptsTheRoundsThatAllHaveDecide) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  LoseRounds(worker, 1, 2, 100);
  const int64_t job = world.Submit({});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone) << world.GetJob(job).message;
  EXPECT_EQ(FinalsRun(worker), 3);
  const auto final = world.store->NewestFinal(1, "NC->NC").value();
  for (const auto& entry : final->entries) {
    EXPECT_EQ(static_cast<int>(entry.round_ns.size()), RoundsIn(world) - 2);
  }
}

TEST(TuningLoopFinals, AFinalThatCannotBeTimedFailsAndSaysSo) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  LoseRounds(worker, 0, RoundsIn(world) - 2, 100);
  const int64_t job = world.Submit({});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kFailed);
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("timed in 2 of 11 rounds"));
  EXPECT_FALSE(world.store->NewestFinal(1, "NC->NC").value().has_value());
  EXPECT_NE(world.Records(Purpose::kConfirm).at(0).outcome, Outcome::kOk);
}

TEST(TuningLoopFinals, AFinalHasTheTimeThatItsCandidatesNeedAndNotManyMinutes) {
  World world;
  const FakeWorker& worker = world.AddWorker("w1");
  world.Submit({.trials = 40});
  world.Run();
  EXPECT_EQ(worker.ran.front().run_limit_ns(), world.options.run_limit_ns);
  const auto& final = worker.ran.back();
  EXPECT_EQ(static_cast<int>(final.rounds()), RoundsIn(world));
  EXPECT_GT(final.candidates_size(), 3);
  // Each took some microseconds in the search: no round of them takes a second.
  EXPECT_GT(final.run_limit_ns(), world.options.run_limit_ns + RoundsIn(world) * kSecondNs);
  EXPECT_LT(final.run_limit_ns(), world.options.run_limit_ns + RoundsIn(world) * 2 * kSecondNs);
  // What the worker ends by itself is over before the lease is.
  EXPECT_EQ(final.lease_ns(), world.farm_options.lease_slack_ns +
                                  (final.candidates_size() + 1) * final.run_limit_ns());
  EXPECT_LT(final.lease_ns(), 300 * kSecondNs);
}

TEST(TuningLoopFinals, AnotherDefaultIsComparedAnew) {
  World world;
  const FakeWorker& worker = world.AddWorker("w1");
  world.Submit({.client_id = "first"});
  world.Run();
  EXPECT_EQ(FinalsRun(worker), 1);
  const auto finals_after = [&](const std::string& client_id) {
    world.Restart();
    world.Submit({.client_id = client_id});
    world.Run();
    return FinalsRun(worker);
  };
  EXPECT_EQ(finals_after("second"), 1) << "nothing has changed";
  world.lowerer.default_index = 2;
  EXPECT_EQ(finals_after("third"), 2);
  const auto final = world.store->NewestFinal(1, "NC->NC").value();
  EXPECT_THAT(final->entries[static_cast<size_t>(final->default_entry)].config, HasSubstr(":1"));
  EXPECT_EQ(finals_after("fourth"), 2);
}

TEST(TuningLoopFinals, OneThatARestartCutInHalfKnowsThatTheSpaceIsUsedUp) {
  World world;
  const FakeWorker& worker = world.AddWorker("w1");
  const int64_t job = world.Submit({.trials = 600});
  while (worker.assignments.empty() || worker.assignments.front().rounds() == 0) {
    ASSERT_TRUE(world.Step());
  }
  world.Restart();
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  // Some of the 512 configs are one nest.
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 384u);
  EXPECT_EQ(world.store->NewestFinal(1, "NC->NC").value()->space_size, 384);
}

// As a template would make it whose default is not as its space writes configs: the final's default
// never is today's.
TEST(TuningLoopFinals, AFinalThatNeverCountsFailsItsTaskInsteadOfRunningForEver) {
  World world;
  const FakeWorker& worker = world.AddWorker("w1");
  const int64_t job = world.Submit({.workloads = {"default_of_before", "conv"}, .trials = 8});
  world.Run(100'000);
  EXPECT_EQ(world.GetJob(job).state, JobState::kFailed);
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("1 of 2 kernels could not be tuned"));
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("would not if it were run again"));
  EXPECT_EQ(FinalsRun(worker), 2) << "one of each task";
}

TEST(TuningLoopFinals, ALateResultOfAFinalSettlesNoTrialWithoutAFinal) {
  World world;
  FakeWorker* worker = &world.AddWorker("w1");
  const int64_t job = world.Submit({.trials = 8});
  while (worker->assignments.empty() || worker->assignments.front().rounds() == 0) {
    ASSERT_TRUE(world.Step());
  }
  worker->is_mute = true;
  while (FinalsRun(*worker) == 0) ASSERT_TRUE(world.Step());
  // The daemon dies; the worker comes back when the new one has given its lease up.
  worker->Disconnect(false);
  std::unique_ptr<FakeWorker> away = std::move(world.workers["w1"]);
  world.workers.clear();
  world.Restart();
  world.Run();
  world.Wait(31 * kSecondNs);
  away->is_mute = false;
  away->SetDispatcher(world.dispatcher.get());
  away->Connect();
  world.workers["w1"] = std::move(away);
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.Records(Purpose::kConfirm).size(), 1u);
  EXPECT_TRUE(world.store->NewestFinal(1, "NC->NC").value().has_value());
  EXPECT_EQ(FinalsRun(*world.workers["w1"]), 2);
}

}  // namespace
}  // namespace hone::tuner
