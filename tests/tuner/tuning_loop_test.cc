// What users of jobs rely on, whatever happens to workers and daemon.
#include "tuner/jobs/tuning_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/clock.h"
#include "tests/tuner/world.h"
#include "tuner/search_names.h"

namespace hone::tuner {
namespace {

using ::testing::HasSubstr;
using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Purpose;

// Every trial has exactly one record, and every task as many as its budget says.
void ExpectWhole(World& world, int64_t tasks, int64_t trials) {
  EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), static_cast<size_t>(tasks * trials));
  for (int64_t task = 1; task <= tasks; ++task) {
    EXPECT_EQ(world.store->CountTrials(task, "NC->NC", Purpose::kSearch).value(), trials);
  }
}

TEST(TuningLoop, MeetsEveryBudgetExactlyAndEndsWithFinals) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({.workloads = {"conv", "dense", "pool"}, .trials = 43});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone) << world.GetJob(job).message;
  ExpectWhole(world, 3, 43);
  for (int64_t task = 1; task <= 3; ++task) {
    const auto final = world.store->NewestFinal(task, "NC->NC").value();
    ASSERT_TRUE(final.has_value());
    EXPECT_EQ(final->distinct_trials, 43);
    EXPECT_GT(final->entries.size(), 1u);
    EXPECT_LE(final->entries.size(), 1u + static_cast<size_t>(world.options.final_top));
    EXPECT_EQ(final->entries[0].config.find(":1"), std::string::npos) << "the default takes part";
    for (const auto& entry : final->entries) EXPECT_EQ(entry.round_ns.size(), 11u);
    EXPECT_GE(final->entries[static_cast<size_t>(final->winner)].ratio_to_default, 1);
  }
  EXPECT_EQ(world.Records(Purpose::kConfirm).size(), 3u);
}

TEST(TuningLoop, MeasuresTheDefaultFirst) {
  World world;
  world.AddWorker("w1");
  world.Submit({.trials = 1});
  world.Run();
  const auto records = world.Records(Purpose::kSearch);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].of_trial.config.find(":1"), std::string::npos);
}

TEST(TuningLoop, CountsBuildFailuresAndWrongOutputsAsTrials) {
  World world;
  world.AddWorker("w1");
  world.Submit({.trials = 100});
  world.Run();
  std::set<Outcome> seen;
  for (const auto& record : world.Records(Purpose::kSearch)) seen.insert(record.outcome);
  EXPECT_TRUE(seen.count(Outcome::kBuildError));
  EXPECT_TRUE(seen.count(Outcome::kWrongOutput));
  ExpectWhole(world, 1, 100);
}

TEST(TuningLoop, NeverMeasuresTheSameNestTwice) {
  World world;
  world.AddWorker("w1");
  world.Submit({.trials = 300});
  world.Run();
  std::set<std::string> nests;
  for (const auto& record : world.Records(Purpose::kSearch)) {
    EXPECT_TRUE(nests.insert(record.of_trial.nest_digest).second);
  }
}

TEST(TuningLoop, ClosesATaskWhoseSpaceIsUsedUp) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({.workloads = {"tiny"}, .trials = 64});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 2u);
  EXPECT_EQ(world.store->NewestFinal(1, "NC->NC").value()->space_size, 2);
}

TEST(TuningLoop, CalibrationIsMeasuredOnceAsSuchAndLooksForNoWinner) {
  World world;
  world.AddWorker("w1");
  const JobWish wish{
      .client_id = "first", .trials = 20, .search = std::string(kCalibratingSearch.name)};
  const int64_t job = world.Submit(wish);
  world.Run(100);
  world.Restart();
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone) << world.GetJob(job).message;
  EXPECT_EQ(world.Records(Purpose::kCalibrate).size(), 20u);
  EXPECT_TRUE(world.Records(Purpose::kSearch).empty());
  EXPECT_TRUE(world.Records(Purpose::kConfirm).empty());
  EXPECT_FALSE(world.store->NewestFinal(1, "NC->NC").value().has_value());
  const auto records = world.Records(Purpose::kCalibrate);
  const auto standard = std::find_if(records.begin(), records.end(), [](const auto& record) {
    return record.of_trial.config.find(":1") == std::string::npos;
  });
  ASSERT_NE(standard, records.end());
  for (const auto& record : records) {
    if (record.outcome != Outcome::kOk) continue;
    EXPECT_EQ(record.samples_ns.size(), 15u) << "rounds";
    EXPECT_NEAR(record.anchor_ns, standard->median_ns, 10) << "in the same rounds";
  }

  JobWish again = wish;
  again.client_id = "second";
  EXPECT_EQ(world.GetJob(world.Submit(again)).tasks.size(), 1u);
  world.Run();
  EXPECT_EQ(world.Records(Purpose::kCalibrate).size(), 20u);
}

TEST(TuningLoop, SpendsNothingWhenTheBudgetIsMetAndAFinalIsThere) {
  World world;
  world.AddWorker("w1");
  world.Submit({.client_id = "first", .workloads = {"conv", "tiny"}});
  world.Run();
  const int runs = world.workers["w1"]->runs;
  const int64_t again = world.Submit({.client_id = "second", .workloads = {"conv", "tiny"}});
  world.Run();
  EXPECT_EQ(world.GetJob(again).state, JobState::kDone);
  EXPECT_EQ(world.workers["w1"]->runs, runs);
}

TEST(TuningLoop, SpendsOnlyTheDifferenceToATaskSharedWithAnEarlierJob) {
  World world;
  world.AddWorker("w1");
  world.Submit({.client_id = "first", .trials = 20});
  world.Run();
  world.Submit({.client_id = "second", .workloads = {"conv", "dense"}, .trials = 30});
  world.Run();
  ExpectWhole(world, 2, 30);
  EXPECT_EQ(world.store->NewestFinal(1, "NC->NC").value()->distinct_trials, 30);
}

TEST(TuningLoop, SharesTheTrialsOfATaskBetweenRunningJobs) {
  World world;
  world.AddWorker("w1");
  const int64_t first = world.Submit({.client_id = "first", .trials = 20});
  const int64_t second = world.Submit({.client_id = "second", .trials = 36});
  world.Run();
  EXPECT_EQ(world.GetJob(first).state, JobState::kDone);
  EXPECT_EQ(world.GetJob(second).state, JobState::kDone);
  ExpectWhole(world, 1, 36);
}

TEST(TuningLoop, ComesToTheSameEndWhateverTheNumberOfWorkers) {
  World one;
  one.AddWorker("w1", 1);
  one.Submit({.workloads = {"conv", "dense"}});
  one.Run();
  World three;
  for (const char* name : {"w1", "w2", "w3"}) three.AddWorker(name, 3);
  three.Submit({.workloads = {"conv", "dense"}});
  three.Run();
  EXPECT_EQ(one.EndState(), three.EndState());
}

TEST(TuningLoop, ResumesFromAnyStateToTheSameEnd) {
  World whole;
  whole.AddWorker("w1");
  whole.Submit({.workloads = {"conv", "dense"}, .trials = 21});
  whole.Run();
  const std::string expected = whole.EndState();
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    World world({}, {.poison_limit = 1000});  // a trial may be hit three times by chance
    Random random(seed);
    world.AddWorker("w1");
    const int64_t job = world.Submit({.workloads = {"conv", "dense"}, .trials = 21});
    for (int kills = 0; kills < 6; ++kills) {
      world.Run(1 + static_cast<int>(random.Below(150)));
      if (random.Below(3) == 0) {
        world.workers["w1"]->Disconnect(random.Below(2) == 0);
        world.workers["w1"]->Connect();
      } else {
        world.Restart();
      }
    }
    world.Run();
    world.Wait(10 * kSecondNs);
    ASSERT_EQ(world.GetJob(job).state, JobState::kDone) << "seed " << seed;
    ASSERT_TRUE(world.store->OpenTrials(0).value().empty()) << "seed " << seed;
    ASSERT_EQ(world.EndState(), expected) << "seed " << seed;
  }
}

TEST(TuningLoop, CancelsAJobAndKeepsWhatWasSettled) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({.trials = 200});
  world.Run(400);
  absl::Status cancelled = absl::UnknownError("not called");
  world.loop->CancelJob(job, [&](absl::Status status) { cancelled = status; });
  world.Run();
  EXPECT_TRUE(cancelled.ok()) << cancelled;
  EXPECT_EQ(world.GetJob(job).state, JobState::kCancelled);
  EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
  int64_t measured = 0;
  for (const auto& record : world.Records(Purpose::kSearch)) {
    measured += record.outcome != Outcome::kCancelled;
  }
  EXPECT_GT(measured, 0);
  EXPECT_LT(measured, 200);
  // Cancelled trials were not measured, so they are not charged.
  world.Submit({.client_id = "again", .trials = 200});
  world.Run();
  int64_t total = 0;
  for (const auto& record : world.Records(Purpose::kSearch)) {
    total += record.outcome != Outcome::kCancelled;
  }
  EXPECT_EQ(total, 200);
  EXPECT_EQ(world.store->NewestFinal(1, "NC->NC").value()->distinct_trials, 200);
}

TEST(TuningLoop, CancelsWhatADaemonThatDiedWhileCancellingLeftOpen) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({.trials = 20});
  world.Run(40);
  ASSERT_FALSE(world.store->OpenTrials(0).value().empty());
  ASSERT_TRUE(world.store->SetJobState(job, JobState::kCancelled, "").ok());
  world.Restart();
  world.Run();
  EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
}

TEST(TuningLoop, EndsAtItsDeadlineWithAFinalOfWhatItHas) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  const int64_t job = world.Submit({.trials = 400, .deadline_ns = 5 * kSecondNs});
  world.Run(500);
  world.clock.now_ns += 6 * kSecondNs;
  world.loop->Tick();
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("before its budget"));
  const auto final = world.store->NewestFinal(1, "NC->NC").value();
  ASSERT_TRUE(final.has_value());
  EXPECT_LT(final->distinct_trials, 400);
  EXPECT_GT(worker.runs, 0);
}

// Trials of searches that were not cancelled.
int64_t CountTried(World& world) {
  const auto records = world.Records(Purpose::kSearch);
  return std::ranges::count_if(records, [](const tuning_db::Record& record) {
    return record.outcome != Outcome::kCancelled;
  });
}

// Six seconds pass at once; then the loop ticks while devices go on with what they hold.
void PassDeadline(World& world) {
  world.clock.now_ns += 6 * kSecondNs;
  for (int i = 0; i < 100; ++i) {
    world.clock.now_ns += kSecondNs / 10;
    world.loop->Tick();
    world.Run(10);
  }
  world.Run();
}

// On a device that takes half a minute a trial, what is open would be many minutes.
TEST(TuningLoop, MeasuresOnlyWhatDevicesHoldOnceTheTimeIsUp) {
  for (const int steps : {60, 100, 300}) {
    World world({.least_open_trials = 64});
    world.AddWorker("w1", 1);
    const int64_t job = world.Submit(
        {.workloads = {"conv", "dense", "pool"}, .trials = 400, .deadline_ns = 5 * kSecondNs});
    world.Run(steps);
    const size_t settled = world.Records(Purpose::kSearch).size();
    const auto open = world.store->OpenTrials(0).value();
    const auto held = std::ranges::count(open, TrialState::kLeased, &tuning_db::Trial::state);
    ASSERT_GT(static_cast<int64_t>(open.size()), held + 8);
    PassDeadline(world);
    EXPECT_EQ(world.GetJob(job).state, JobState::kDone) << world.GetJob(job).message;
    EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
    EXPECT_LE(CountTried(world), static_cast<int64_t>(settled) + held + 2)
        << "some may be on their way";
  }
}

TEST(TuningLoop, WhatOnlyALateJobWantsIsCancelledThoughAnotherWantsItsTask) {
  World world({.least_open_trials = 64});
  world.AddWorker("w1", 1);
  const int64_t late =
      world.Submit({.client_id = "late", .trials = 400, .deadline_ns = 5 * kSecondNs});
  const int64_t small = world.Submit({.client_id = "small", .trials = 8});
  std::vector<tuning_db::Trial> open;
  do {
    open = world.store->OpenTrials(0).value();
  } while ((world.Records(Purpose::kSearch).size() < 8 || open.size() < 12) && world.Step());
  const size_t settled = world.Records(Purpose::kSearch).size();
  const auto held = std::ranges::count(open, TrialState::kLeased, &tuning_db::Trial::state);
  ASSERT_GT(static_cast<int64_t>(open.size()), held + 4);
  ASSERT_EQ(world.GetJob(small).state, JobState::kRunning) << "it waits for a final";
  PassDeadline(world);
  EXPECT_EQ(world.GetJob(late).state, JobState::kDone);
  EXPECT_EQ(world.GetJob(small).state, JobState::kDone);
  EXPECT_LE(CountTried(world), static_cast<int64_t>(settled) + held + 2);
}

TEST(TuningLoop, AKernelThatWasNotTriedInTimeHasNoFinal) {
  World world({.max_open_trials = 8});
  world.AddWorker("w1", 1);
  const int64_t job =
      world.Submit({.workloads = {"conv", "dense"}, .trials = 400, .deadline_ns = 5 * kSecondNs});
  while (world.Records(Purpose::kSearch).empty() && world.Step()) {
  }
  world.clock.now_ns += 6 * kSecondNs;
  world.loop->Tick();
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("before its budget"));
  EXPECT_TRUE(world.store->NewestFinal(1, "NC->NC").value().has_value());
  EXPECT_FALSE(world.store->NewestFinal(2, "NC->NC").value().has_value());
}

TEST(TuningLoop, FailsAJobWhoseDefaultIsWrongAndSaysSo) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({.workloads = {"default_fails", "conv"}, .trials = 10});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kFailed);
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("1 of 2 kernels"));
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("default config failed its final"));
  EXPECT_TRUE(world.store->NewestFinal(2, "NC->NC").value().has_value());
}

TEST(TuningLoop, ComesToTheSameEndOverABuilderThatFailsNowAndThen) {
  World sound;
  sound.AddWorker("w1");
  sound.Submit({});
  sound.Run();
  World shaky;
  shaky.AddWorker("w1");
  shaky.builder->fail_every = 3;
  shaky.Submit({});
  shaky.Run();
  EXPECT_EQ(sound.EndState(), shaky.EndState());
}

TEST(TuningLoop, FailsAJobWhenTheBuilderKeepsFailing) {
  World world;
  world.AddWorker("w1");
  world.builder->is_broken = true;
  const int64_t job = world.Submit({});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kFailed);
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("no builder"));
  EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
}

TEST(TuningLoop, TakesJobsOfGreaterPriorityFirst) {
  World world({.max_open_trials = 8});
  world.AddWorker("w1");
  world.Submit({.client_id = "low", .workloads = {"conv"}, .trials = 60});
  const int64_t high =
      world.Submit({.client_id = "high", .workloads = {"dense"}, .trials = 60, .priority = 5});
  while (world.GetJob(high).state != JobState::kDone && world.Step()) {
  }
  EXPECT_EQ(world.store->CountTrials(2, "NC->NC", Purpose::kSearch).value(), 60);
  EXPECT_LT(world.store->CountTrials(1, "NC->NC", Purpose::kSearch).value(), 30);
}

TEST(TuningLoop, NeverBuildsWhileAMeasurementOwnsAllCores) {
  World world({.local_cores = 2});
  FakeWorker& worker = world.AddWorker("w1");
  const int64_t job = world.Submit({.workloads = {"two_threads"}, .trials = 50});
  int built = 0;
  while (world.Step()) {
    if (world.builder->built != built) {
      EXPECT_TRUE(worker.assignments.empty());
      EXPECT_TRUE(worker.held.empty());
    }
    built = world.builder->built;
  }
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  ExpectWhole(world, 1, 50);
}

TEST(TuningLoop, NeverOverrunsABudgetThroughThePlanOfAJobThatIsGone) {
  World world;
  world.AddWorker("w1");
  world.planner.is_closed = true;
  const int64_t first = world.Submit({.client_id = "first", .trials = 8});
  world.Run();
  world.loop->CancelJob(first, [](const absl::Status&) {});
  world.Submit({.client_id = "second", .trials = 8});
  world.Run();
  // Now there are two plans: one for a runner that is gone.
  ASSERT_TRUE(world.planner.LetOneThrough());
  world.Run();
  world.planner.Open();
  world.Run();
  ExpectWhole(world, 1, 8);
}

// Search trials of a task that was tuned elsewhere.
std::vector<tuning_db::Record> MeasuredElsewhere(const JobWish& wish) {
  World other;
  other.AddWorker("w1");
  other.Submit(wish);
  other.Run();
  return other.Records(Purpose::kSearch);
}

// How many of them were new.
int64_t Import(World& world, const std::vector<tuning_db::Record>& records) {
  int64_t added = 0;
  for (const tuning_db::Record& record : records) {
    tuning_db::Trial trial = record.of_trial;
    trial.job = 0;
    added += world.store->Import(trial, record).value() == tuning_db::SettleResult::kSettled;
  }
  return added;
}

TEST(TuningLoop, DoesNotGoRoundWhenWhatItProposesIsImportedMeanwhile) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({.trials = 43});
  while (world.Records(Purpose::kSearch).size() < 8) ASSERT_TRUE(world.Step());
  Import(world, MeasuredElsewhere({.trials = 43}));
  world.Run(100000);
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  ExpectWhole(world, 1, 43);
}

TEST(TuningLoop, ChargesWhatIsImportedMeanwhileToTheBudget) {
  const auto imported = MeasuredElsewhere({.trials = 16, .seed = 8});
  for (const size_t when : {0, 8, 20, 30}) {
    World world;
    world.AddWorker("w1");
    const int64_t job = world.Submit({.trials = 64});
    while (world.Records(Purpose::kSearch).size() < when) ASSERT_TRUE(world.Step());
    EXPECT_GT(Import(world, imported), 8) << "of configs that are not proposed here";
    world.Run();
    EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
    ExpectWhole(world, 1, 64);
    EXPECT_EQ(world.store->NewestFinal(1, "NC->NC").value()->distinct_trials, 64);
  }
}

TEST(TuningLoop, PlansABatchAnewWhereTrialsCameMeanwhile) {
  const auto imported = MeasuredElsewhere({.trials = 16, .seed = 8});
  const auto end_state = [&](bool during_plan) {
    World world;
    world.AddWorker("w1");
    const int64_t other = world.Submit({.client_id = "makes the task", .trials = 8});
    world.Run();
    EXPECT_EQ(world.GetJob(other).state, JobState::kDone);
    if (!during_plan) Import(world, imported);
    world.planner.is_closed = true;
    world.Submit({.trials = 64});
    world.Run();
    if (during_plan) Import(world, imported);
    world.planner.Open();
    world.Run();
    ExpectWhole(world, 1, 64);
    return world.EndState();
  };
  EXPECT_EQ(end_state(true), end_state(false));
}

TEST(TuningLoop, CountsAJobsTimeOverRestarts) {
  World world;
  const int64_t job = world.Submit({.trials = 400, .deadline_ns = 20 * kSecondNs});
  world.Run();
  world.Wait(12 * kSecondNs);
  EXPECT_GE(world.GetJob(job).ran_ns, 10 * kSecondNs);
  world.Restart();
  world.Wait(12 * kSecondNs);
  world.AddWorker("w1");  // too late to search
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("before its budget"));
  EXPECT_TRUE(world.Records(Purpose::kSearch).empty());
}

TEST(TuningLoop, FailsATaskWhoseReferenceDoesNotRunAndChargesNothing) {
  World world;
  world.AddWorker("w1").tamper = [](const auto&, hone::v1::MeasureResult& result) {
    for (auto& candidate : *result.mutable_candidates()) {
      candidate.clear_samples_ns();
      candidate.set_outcome(hone::v1::MEASURE_OUTCOME_NO_REFERENCE);
      candidate.set_message(std::string("signal\n4\0", 9));
    }
  };
  const int64_t job = world.Submit({});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kFailed);
  EXPECT_THAT(world.GetJob(job).message, HasSubstr("its reference does not run: signal 4 "))
      << "on one line";
  EXPECT_LE(world.workers["w1"]->runs, 4) << "the third time is enough where nobody else is";
  EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
  for (const auto& record : world.Records(Purpose::kSearch)) {
    EXPECT_EQ(record.outcome, record.toolchain.empty() ? Outcome::kCancelled : record.outcome);
  }
  world.workers["w1"]->tamper = nullptr;
  world.Submit({.client_id = "again"});
  world.Run();
  EXPECT_EQ(world.store->NewestFinal(1, "NC->NC").value()->distinct_trials, 40);
}

TEST(TuningLoop, MeasuresAgainWhatWasRetracted) {
  World world;
  world.AddWorker("w1");
  world.Submit({.trials = 12});
  world.Run();
  for (const Purpose purpose : {Purpose::kSearch, Purpose::kConfirm}) {
    for (const auto& record : world.Records(purpose)) {
      ASSERT_TRUE(world.store->Retract(record.id, "the device was bad").ok());
    }
  }
  ASSERT_TRUE(world.Records(Purpose::kSearch).empty());
  world.Restart();
  world.AddWorker("w2");
  const int64_t job = world.Submit({.client_id = "again", .trials = 14});
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 14u);
  EXPECT_EQ(world.Records(Purpose::kConfirm).size(), 1u);
}

TEST(TuningLoop, MeasuresEveryTrialBesideTheDefaultAndSaysWhatWasBuilt) {
  World world;
  const FakeWorker& worker = world.AddWorker("w1");
  world.Submit({});
  world.Run();
  std::set<std::string> anchors;
  for (const auto& assignment : worker.ran) {
    EXPECT_EQ(assignment.has_anchor(), assignment.rounds() == 0);
    if (assignment.has_anchor()) anchors.insert(assignment.anchor().artifact_digest());
    EXPECT_EQ(assignment.candidates(0).toolchain(), "fake 1");
  }
  const auto final = world.store->NewestFinal(1, "NC->NC").value();
  EXPECT_EQ(anchors, std::set<std::string>{final->entries[0].artifact_digest});
  EXPECT_EQ(final->toolchain, "fake 1");
  for (const auto& record : world.Records(Purpose::kSearch)) {
    EXPECT_EQ(record.toolchain, "fake 1");
    if (record.outcome == Outcome::kBuildError) continue;
    EXPECT_EQ(record.anchor_ns, kFakeAnchorNs);
    EXPECT_FALSE(record.artifact_digest.empty());
  }
}

TEST(TuningLoop, AnnouncesEveryEventOfAJob) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({.trials = 10});
  world.Run();
  const auto events = world.store->ListEvents(job, 0, 0).value();
  std::map<std::string, int> kinds;
  for (const auto& event : events) ++kinds[event.kind];
  EXPECT_EQ(kinds["trial_settled"], 11);  // the final's own among them
  EXPECT_EQ(kinds["final"], 1);
  EXPECT_EQ(kinds["state"], 2);
  EXPECT_GE(world.events.size(), 12u);
}

}  // namespace
}  // namespace hone::tuner
