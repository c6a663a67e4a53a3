// Searches that end before their budget.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/clock.h"
#include "support/random.h"
#include "tests/tuner/world.h"
#include "tuning_db/resolve.h"

namespace hone::tuner {
namespace {

using tuning_db::JobState;
using tuning_db::Purpose;

constexpr int64_t kBudget = 300;

tuning_db::Final FinalOf(World& world, int64_t task) {
  return world.store->NewestFinal(task, "NC->NC").value().value();
}

size_t Trials(World& world) { return world.Records(Purpose::kSearch).size(); }

TEST(TuningLoopEnds, SpendsLessThanTheBudgetAndItsWinnerIsTuned) {
  World world;
  world.AddWorker("w1");
  const int64_t job =
      world.Submit({.workloads = {"conv", "dense", "pool"}, .trials = kBudget, .ends_early = true});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.GetJob(job).message, "");
  EXPECT_LT(Trials(world), static_cast<size_t>(3 * kBudget) / 2);
  for (int64_t task = 1; task <= 3; ++task) {
    const tuning_db::Final final = FinalOf(world, task);
    EXPECT_GT(final.ended_share, 0);
    EXPECT_LE(final.ended_share, 1);
    EXPECT_TRUE(tuning_db::IsTuned(final));
  }
  EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
}

TEST(TuningLoopEnds, ATaskThatTakesLittleOfTheModelGetsItsFirstBatchOnly) {
  World world;
  world.AddWorker("w1");
  world.Submit({.trials = kBudget, .ends_early = true, .elsewhere_ns = 1e12});
  world.Run();
  EXPECT_EQ(Trials(world), 1u) << "the default: the fake task has no other strategy";
  EXPECT_TRUE(tuning_db::IsTuned(FinalOf(world, 1)));
}

TEST(TuningLoopEnds, ATaskThatTakesLittleOfTheModelHasASmallFinal) {
  const auto entries_of = [](double elsewhere_ns) {
    World world;
    world.AddWorker("w1");
    world.Submit({.client_id = "before", .trials = 40});
    world.Run();
    world.Submit({.trials = kBudget, .ends_early = true, .elsewhere_ns = elsewhere_ns});
    world.Run();
    return FinalOf(world, 1).entries.size();
  };
  EXPECT_LE(entries_of(1e12), 4u + 2) << "beside the default and the winner before";
  EXPECT_GT(entries_of(0), 4u + 2);
}

TEST(TuningLoopEnds, ASecondJobSpendsNothing) {
  World world;
  world.AddWorker("w1");
  JobWish wish{.workloads = {"conv", "dense"}, .trials = kBudget, .ends_early = true};
  world.Submit(wish);
  world.Run();
  const int runs = world.workers["w1"]->runs;
  wish.client_id = "again";
  EXPECT_EQ(world.GetJob(world.Submit(wish)).tasks.size(), 2u);
  world.Run();
  EXPECT_EQ(world.workers["w1"]->runs, runs);
}

// Its constants lie elsewhere in a larger model, so its finalists are compared anew.
TEST(TuningLoopEnds, AJobThatAsksForLessInAnotherRegimeTakesNothingBack) {
  World world;
  world.AddWorker("w1");
  world.Submit({.workloads = {"weights"},
                .trials = kBudget,
                .constant_bytes = int64_t{8} << 20,
                .ends_early = true,
                .elsewhere_ns = 1e12});
  world.Run();
  const tuning_db::Final before = FinalOf(world, 1);
  ASSERT_GT(before.ended_share, 0);
  ASSERT_EQ(before.distinct_trials, 1) << "too few to be tuned by that alone";
  world.clock.now_ns += 1'000'000'000;
  world.Submit({.client_id = "less",
                .workloads = {"weights"},
                .trials = 1,
                .constant_bytes = int64_t{44} << 20,
                .ends_early = true});
  world.Run();
  const tuning_db::Final after = FinalOf(world, 1);
  EXPECT_GT(after.wall_time_ns, before.wall_time_ns) << "a final of its own";
  EXPECT_TRUE(tuning_db::IsTuned(after));
}

TEST(TuningLoopEnds, GoesOnInAModelWhereTheTaskWeighsMoreThanTwice) {
  World world;
  world.AddWorker("w1");
  world.Submit({.trials = kBudget, .ends_early = true, .elsewhere_ns = 1e12});
  world.Run();
  world.Submit({.client_id = "its own", .trials = kBudget, .ends_early = true});
  world.Run();
  EXPECT_GT(Trials(world), 8u);
  EXPECT_EQ(FinalOf(world, 1).ended_share, 1);
}

TEST(TuningLoopEnds, AJobThatAsksForTheWholeBudgetGetsIt) {
  World world;
  world.AddWorker("w1");
  world.Submit({.trials = kBudget, .ends_early = true});
  world.Run();
  ASSERT_LT(Trials(world), static_cast<size_t>(kBudget));
  world.Submit({.client_id = "all", .trials = kBudget});
  world.Run();
  EXPECT_EQ(Trials(world), static_cast<size_t>(kBudget));
  EXPECT_EQ(FinalOf(world, 1).distinct_trials, kBudget);
  EXPECT_EQ(FinalOf(world, 1).ended_share, 0);
}

// Forty trials of an older Hone leave a kernel less than tuned; a tune that finds nothing more to
// win makes it tuned, by a final alone.
TEST(TuningLoopEnds, AFinalOfFewTrialsIsRunAnewWhereNothingIsLeftToWin) {
  World world;
  world.AddWorker("w1");
  world.Submit({.client_id = "before", .trials = 40});
  world.Run();
  ASSERT_FALSE(tuning_db::IsTuned(FinalOf(world, 1)));
  world.Submit({.trials = kBudget, .ends_early = true, .elsewhere_ns = 1e12});
  world.Run();
  EXPECT_EQ(Trials(world), 40u);
  EXPECT_TRUE(tuning_db::IsTuned(FinalOf(world, 1)));
}

// The final that is under way when a search ends does not say so; the next one does.
TEST(TuningLoopEnds, ASearchThatEndsDuringAFinalHasAnother) {
  World world;
  world.AddWorker("w1");
  const int64_t before = world.Submit({.client_id = "before", .trials = 40});
  const auto has_final_under_way = [&] {
    const auto open = world.store->OpenTrials(0).value();
    return std::ranges::any_of(open, [](const auto& trial) {
      return trial.purpose == Purpose::kConfirm && trial.state == tuning_db::TrialState::kLeased;
    });
  };
  while (!has_final_under_way()) ASSERT_TRUE(world.Step());
  const int64_t job = world.Submit({.trials = kBudget, .ends_early = true, .elsewhere_ns = 1e12});
  world.Run();
  for (const int64_t id : {before, job}) {
    EXPECT_EQ(world.GetJob(id).state, JobState::kDone) << world.GetJob(id).message;
  }
  EXPECT_EQ(Trials(world), 40u);
  EXPECT_TRUE(tuning_db::IsTuned(FinalOf(world, 1)));
}

// That a task has nothing more to win in one model is no end of another job's search.
TEST(TuningLoopEnds, AJobThatItsTimeEndedSaysSoWhereAnothersSearchHasEnded) {
  World world;
  world.AddWorker("w1");
  const int64_t whole =
      world.Submit({.client_id = "whole", .trials = kBudget, .deadline_ns = 5 * kSecondNs});
  const int64_t early = world.Submit({.trials = kBudget, .ends_early = true, .elsewhere_ns = 1e12});
  world.Run(300);
  world.clock.now_ns += 6 * kSecondNs;
  world.loop->Tick();
  world.Run();
  ASSERT_LT(Trials(world), static_cast<size_t>(kBudget));
  EXPECT_THAT(world.GetJob(whole).message, testing::HasSubstr("before its budget"));
  EXPECT_EQ(world.GetJob(early).message, "");
}

TEST(TuningLoopEnds, ComesToTheSameEndWhateverTheNumberOfWorkers) {
  const JobWish wish{.workloads = {"conv", "dense", "pool"}, .trials = 100, .ends_early = true};
  World one;
  one.AddWorker("w1", 1);
  one.Submit(wish);
  one.Run();
  World three;
  for (const char* name : {"w1", "w2", "w3"}) three.AddWorker(name, 3);
  three.Submit(wish);
  three.Run();
  EXPECT_EQ(one.EndState(), three.EndState());
}

TEST(TuningLoopEnds, ResumesFromAnyStateToTheSameEnd) {
  const JobWish wish{.workloads = {"conv", "dense", "pool"}, .trials = 100, .ends_early = true};
  World whole;
  whole.AddWorker("w1");
  whole.Submit(wish);
  whole.Run();
  const std::string expected = whole.EndState();
  ASSERT_LT(Trials(whole), 300u);
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    World world({}, {.poison_limit = 1000});  // a trial may be hit three times by chance
    Random random(seed);
    world.AddWorker("w1");
    const int64_t job = world.Submit(wish);
    for (int kills = 0; kills < 6; ++kills) {
      world.Run(1 + static_cast<int>(random.Below(150)));
      world.Restart();
    }
    world.Run();
    world.Wait(10 * kSecondNs);
    ASSERT_EQ(world.GetJob(job).state, JobState::kDone) << "seed " << seed;
    ASSERT_EQ(world.EndState(), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace hone::tuner
