// Jobs that are paused, and the shares of those who submit them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "support/clock.h"
#include "support/digest.h"
#include "support/random.h"
#include "tests/tuner/world.h"
#include "tuning_db/pause_jobs.h"

namespace hone::tuner {
namespace {

using ::testing::HasSubstr;
using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Purpose;
using tuning_db::TrialState;

using Change = void (TuningLoop::*)(int64_t job, std::function<void(absl::Status)> done);

// Asks for a change of the job's state, and lets the loop answer.
absl::Status Ask(World& world, Change change, int64_t job) {
  absl::Status answer = absl::UnknownError("not answered");
  std::invoke(change, *world.loop, job, [&](const absl::Status& status) { answer = status; });
  world.Drain();
  return answer;
}

absl::Status Pause(World& world, int64_t job) { return Ask(world, &TuningLoop::PauseJob, job); }

absl::Status Resume(World& world, int64_t job) { return Ask(world, &TuningLoop::ResumeJob, job); }

absl::Status Cancel(World& world, int64_t job) { return Ask(world, &TuningLoop::CancelJob, job); }

std::vector<std::string> StatesOf(World& world, int64_t job) {
  std::vector<std::string> states;
  const std::vector<tuning_db::Event> events = world.store->ListEvents(job, 0, 0).value();
  for (const tuning_db::Event& event : events) {
    if (event.kind == "state") states.push_back(event.payload);
  }
  return states;
}

TEST(TuningLoopPause, NothingMoreIsProposedOrLeasedForAPausedJob) {
  for (int steps = 1; steps < 200; steps += 13) {
    World world;
    FakeWorker& worker = world.AddWorker("w1");
    const int64_t job = world.Submit({.workloads = {"conv", "dense"}});
    world.Run(steps);
    ASSERT_TRUE(Pause(world, job).ok());
    const int64_t trials = world.store->CountTrials(1, "NC->NC", Purpose::kSearch).value();
    const size_t begun = worker.ran.size() + worker.assignments.size();
    world.Run();
    world.Wait(2 * kSecondNs);
    EXPECT_EQ(world.GetJob(job).state, JobState::kPaused);
    EXPECT_EQ(world.store->CountTrials(1, "NC->NC", Purpose::kSearch).value(), trials);
    EXPECT_EQ(worker.ran.size(), begun) << "what devices had is finished, and no more";
    const auto open = world.store->OpenTrials(0).value();
    for (const tuning_db::Trial& trial : open) EXPECT_EQ(trial.state, TrialState::kProposed);
    for (const auto& record : world.Records(Purpose::kSearch)) {
      EXPECT_NE(record.outcome, Outcome::kCancelled);
    }
  }
}

TEST(TuningLoopPause, AResumedJobComesToTheSameEndWheneverItWasPaused) {
  World whole;
  whole.AddWorker("w1");
  whole.Submit({.workloads = {"conv", "dense"}, .trials = 21});
  whole.Run();
  const std::string expected = whole.EndState();
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    World world;
    world.AddWorker("w1");
    const int64_t job = world.Submit({.workloads = {"conv", "dense"}, .trials = 21});
    for (int i = 0; i < 6; ++i) {
      world.Run(1 + static_cast<int>(random.Below(120)));
      const absl::Status paused = Pause(world, job);
      if (!paused.ok()) break;  // it has ended
      if (random.Below(2) == 0) world.Run(static_cast<int>(random.Below(40)) + 1);
      if (random.Below(3) == 0) world.Restart();
      ASSERT_EQ(world.GetJob(job).state, JobState::kPaused);
      ASSERT_TRUE(Resume(world, job).ok());
    }
    world.Run();
    world.Wait(200 * kSecondNs);  // a lease of before a restart is waited for
    ASSERT_EQ(world.GetJob(job).state, JobState::kDone) << "seed " << seed;
    ASSERT_TRUE(world.store->OpenTrials(0).value().empty()) << "seed " << seed;
    ASSERT_EQ(world.EndState(), expected) << "seed " << seed;
  }
}

TEST(TuningLoopPause, RestartsLeaveAJobPaused) {
  World world;
  FakeWorker& worker = world.AddWorker("w1");
  const int64_t job = world.Submit({});
  world.Run(80);
  ASSERT_TRUE(Pause(world, job).ok());
  world.Run();
  const int runs = worker.runs;
  world.Restart();
  world.Run();
  world.Wait(2 * kSecondNs);
  EXPECT_EQ(world.GetJob(job).state, JobState::kPaused);
  EXPECT_EQ(worker.runs, runs);
  EXPECT_FALSE(world.store->OpenTrials(0).value().empty()) << "they wait";
  world.loop->JobSubmitted(job);  // a client that asks again for what it submitted
  world.Run();
  EXPECT_EQ(worker.runs, runs);
}

// The first step of a run after which a device has a lease.
void RunUntilLeased(World& world) {
  const auto is_leased = [](const auto& trial) { return trial.state == TrialState::kLeased; };
  while (std::ranges::none_of(world.store->OpenTrials(0).value(), is_leased)) {
    ASSERT_TRUE(world.Step());
  }
}

TEST(TuningLoopPause, LeasesOfAPausedJobEndInTimeOverARestart) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({});
  RunUntilLeased(world);
  ASSERT_TRUE(Pause(world, job).ok());
  world.workers.clear();
  world.Restart();
  world.Wait(32 * kSecondNs);  // the grace
  const auto open = world.store->OpenTrials(0).value();
  ASSERT_FALSE(open.empty());
  for (const tuning_db::Trial& trial : open) EXPECT_EQ(trial.state, TrialState::kProposed);
  EXPECT_EQ(world.GetJob(job).state, JobState::kPaused);
}

TEST(TuningLoopPause, AResultOfAPausedJobIsKeptOverARestart) {
  World world;
  FakeWorker& worker = world.AddWorker("w1", 1);
  const int64_t job = world.Submit({});
  while (worker.sent.empty()) ASSERT_TRUE(world.Step());
  const auto count_measured = [&] {
    return std::ranges::count_if(world.Records(Purpose::kSearch),
                                 [](const auto& record) { return !record.worker.empty(); });
  };
  ASSERT_EQ(count_measured(), 0);
  // A daemon that dies between the job's new state and all that follows from it.
  ASSERT_TRUE(tuning_db::PauseJob(*world.store, tuning_db::Ownership(), job).ok());
  world.Restart();
  world.Run();
  EXPECT_EQ(count_measured(), 1);
  ASSERT_TRUE(Resume(world, job).ok());
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 40u);
}

TEST(TuningLoopPause, AFinalOfAPausedJobIsMeasuredAnewAfterARestart) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({.trials = 5});
  const auto is_final = [](const auto& trial) {
    return trial.purpose == Purpose::kConfirm && trial.state == TrialState::kLeased;
  };
  while (std::ranges::none_of(world.store->OpenTrials(0).value(), is_final)) {
    ASSERT_TRUE(world.Step());
  }
  ASSERT_TRUE(Pause(world, job).ok());
  world.Restart();
  world.Drain();
  EXPECT_TRUE(std::ranges::none_of(world.store->OpenTrials(0).value(), is_final));
  ASSERT_TRUE(Resume(world, job).ok());
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
}

TEST(TuningLoopPause, PauseAndResumeAreIdempotentAndNeverOfAnEndedJob) {
  World world;
  world.AddWorker("w1");
  const int64_t job = world.Submit({.trials = 10});
  EXPECT_TRUE(Resume(world, job).ok()) << "it is not paused";
  EXPECT_TRUE(Pause(world, job).ok());
  EXPECT_TRUE(Pause(world, job).ok());
  EXPECT_TRUE(Resume(world, job).ok());
  EXPECT_TRUE(Resume(world, job).ok());
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_TRUE(absl::IsFailedPrecondition(Pause(world, job)));
  EXPECT_TRUE(absl::IsFailedPrecondition(Resume(world, job)));
  EXPECT_TRUE(absl::IsNotFound(Pause(world, 99)));
  const std::vector<std::string> states = StatesOf(world, job);
  ASSERT_EQ(states.size(), 5u) << "running, paused, queued, running, done";
  EXPECT_THAT(states[1], HasSubstr("paused"));
  EXPECT_THAT(states[2], HasSubstr("queued"));
  EXPECT_THAT(states[4], HasSubstr("done"));
  EXPECT_EQ(world.store->ListEvents(job, 0, 0).value().back().kind, "state") << "its last";
}

TEST(TuningLoopPause, RunningTimeStandsStill) {
  World world;
  const int64_t job = world.Submit({.deadline_ns = 20 * kSecondNs});  // waits for a device
  world.Run();
  world.Wait(5 * kSecondNs);
  ASSERT_TRUE(Pause(world, job).ok());
  const int64_t ran_ns = world.GetJob(job).ran_ns;
  EXPECT_EQ(ran_ns, 5 * kSecondNs);
  world.Wait(60 * kSecondNs);
  world.Restart();
  world.Wait(60 * kSecondNs);
  EXPECT_EQ(world.GetJob(job).ran_ns, ran_ns);
  EXPECT_EQ(world.GetJob(job).state, JobState::kPaused);
  ASSERT_TRUE(Resume(world, job).ok());
  world.AddWorker("w1");
  world.Run();
  EXPECT_EQ(world.GetJob(job).state, JobState::kDone);
  EXPECT_EQ(world.GetJob(job).message, "") << "its time was not up";
}

TEST(TuningLoopPause, ASharedTaskGoesOnForTheOthersAndTellsAllThree) {
  World world;
  world.AddWorker("w1");
  const int64_t a = world.Submit({.client_id = "a", .trials = 30});
  const int64_t b = world.Submit({.client_id = "b", .trials = 40});
  const int64_t c = world.Submit({.client_id = "c", .workloads = {"conv", "pool"}, .trials = 20});
  world.Run(60);
  ASSERT_TRUE(Pause(world, a).ok());
  world.Run();
  EXPECT_EQ(world.GetJob(a).state, JobState::kPaused);
  EXPECT_EQ(world.GetJob(b).state, JobState::kDone);
  EXPECT_EQ(world.GetJob(c).state, JobState::kDone);
  const auto progress = world.store->ProgressOfJobs({a, b, c}).value();
  for (const auto& of_job : progress) {
    EXPECT_EQ(of_job[0].trials, 40);
    EXPECT_TRUE(of_job[0].final.has_value());
  }
  std::map<int64_t, int64_t> told;  // settled trials of the shared task, by job
  for (const int64_t job : {a, b, c}) {
    const auto events = world.store->ListEvents(job, 0, 0).value();
    told[job] = std::count_if(events.begin(), events.end(), [](const auto& event) {
      return event.kind == "trial_settled" &&
             event.payload.find("\"task\":1,") != std::string::npos;
    });
  }
  EXPECT_GE(told[a], 40) << "paused, it is told all the same";
  EXPECT_GE(told[b], 40);
  EXPECT_GE(told[c], 20) << "until it ended";
  ASSERT_TRUE(Resume(world, a).ok());
  world.Run();
  EXPECT_EQ(world.GetJob(a).state, JobState::kDone) << "the others have done its work";
  EXPECT_EQ(world.store->CountTrials(1, "NC->NC", Purpose::kSearch).value(), 40);
}

TEST(TuningLoopPause, WhoWantsTheTaskOfAPausedJobTakesUpItsOpenTrials) {
  for (const bool restarts : {false, true}) {
    World world;
    world.AddWorker("w1");
    const int64_t a = world.Submit({.client_id = "a", .trials = 24});
    world.Run(70);
    ASSERT_TRUE(Pause(world, a).ok());
    world.Run();
    ASSERT_FALSE(world.store->OpenTrials(a).value().empty());
    if (restarts) world.Restart();
    const int64_t b = world.Submit({.client_id = "b", .trials = 24});
    world.Run();
    EXPECT_EQ(world.GetJob(b).state, JobState::kDone);
    EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
    EXPECT_EQ(world.Records(Purpose::kSearch).size(), 24u);
    EXPECT_EQ(world.GetJob(a).state, JobState::kPaused);
  }
}

TEST(TuningLoopPause, ACancelledJobLeavesNothingOpenPausedOrNot) {
  for (const bool restarts : {false, true}) {
    World world;
    world.AddWorker("w1");
    const int64_t a = world.Submit({.client_id = "a", .trials = 24});
    world.Run(70);
    ASSERT_TRUE(Pause(world, a).ok());
    if (restarts) {
      world.Run();
      world.Restart();
    }
    ASSERT_TRUE(Cancel(world, a).ok());
    world.Run();
    EXPECT_EQ(world.GetJob(a).state, JobState::kCancelled);
    EXPECT_TRUE(world.store->OpenTrials(0).value().empty());
    const auto events = world.store->ListEvents(a, 0, 0).value();
    EXPECT_THAT(events.back().payload, HasSubstr("cancelled")) << "nothing is told after the end";
  }
}

TEST(TuningLoopPause, AnotherPausedJobKeepsTheTrialsOfACancelledOne) {
  World world;
  world.AddWorker("w1");
  const int64_t a = world.Submit({.client_id = "a", .trials = 24});
  const int64_t b = world.Submit({.client_id = "b", .trials = 24});
  world.Run(70);
  ASSERT_TRUE(Pause(world, a).ok());
  ASSERT_TRUE(Pause(world, b).ok());
  world.Run();
  const size_t open = world.store->OpenTrials(0).value().size();
  ASSERT_GT(open, 0u);
  ASSERT_TRUE(Cancel(world, a).ok());
  world.Run();
  EXPECT_EQ(world.store->OpenTrials(0).value().size(), open);
  ASSERT_TRUE(Resume(world, b).ok());
  world.Run();
  EXPECT_EQ(world.GetJob(b).state, JobState::kDone);
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 24u);
}

// How many of the first measurements were of each workload's trials.
std::map<std::string, int> FirstMeasured(World& world, size_t count) {
  std::map<std::string, int> measured;
  const FakeWorker& worker = *world.workers.at("w1");
  for (size_t i = 0; i < count && i < worker.ran.size(); ++i) {
    ++measured[worker.ran[i].workload_digest()];
  }
  return measured;
}

TEST(TuningLoopShares, WhoSubmitsThreeJobsGetsNoMoreThanWhoSubmitsOne) {
  World world({.least_open_trials = 16});
  world.AddWorker("w1", 1);
  int n = 0;
  for (const char* workload : {"a1", "a2", "a3"}) {
    world.Submit({.client_id = "ann " + std::to_string(++n),
                  .workloads = {workload},
                  .trials = 64,
                  .submitter = "ann"});
  }
  world.Submit({.client_id = "ben", .workloads = {"b"}, .trials = 64, .submitter = "ben"});
  world.Run();
  std::map<std::string, int> measured = FirstMeasured(world, 100);
  const int of_ben = measured[Sha256Hex("b")];
  EXPECT_GE(of_ben, 40) << "about half";
  EXPECT_LE(of_ben, 64);
}

TEST(TuningLoopShares, ASubmitterHasNoMoreTrialsOpenThanTheQuota) {
  World world({.least_open_trials = 64, .most_open_of_one = 16});
  world.AddWorker("w1", 1);
  for (const char* name : {"1", "2"}) {
    world.Submit({.client_id = std::string("ann ") + name,
                  .workloads = {std::string("a") + name, std::string("c") + name},
                  .trials = 32,
                  .submitter = "ann"});
  }
  const int64_t of_ben =
      world.Submit({.client_id = "ben", .workloads = {"b"}, .trials = 32, .submitter = "ben"});
  size_t most_of_ann = 0;
  do {
    size_t of_ann = 0;
    const std::vector<tuning_db::Trial> open = world.store->OpenTrials(0).value();
    for (const tuning_db::Trial& trial : open) {
      of_ann += trial.job != of_ben && trial.purpose == Purpose::kSearch ? 1 : 0;
    }
    most_of_ann = std::max(most_of_ann, of_ann);
  } while (world.Step());
  EXPECT_EQ(most_of_ann, 16u) << "two batches of eight";
  EXPECT_EQ(world.Records(Purpose::kSearch).size(), 5u * 32) << "everything is tried all the same";
}

TEST(TuningLoopShares, AmongTheJobsOfOneSubmitterTheGreaterPriorityGoesFirst) {
  World world({.least_open_trials = 16});
  world.AddWorker("w1", 1);
  world.Submit({.client_id = "low", .workloads = {"low"}, .trials = 64, .submitter = "ann"});
  const int64_t high = world.Submit({.client_id = "high",
                                     .workloads = {"high"},
                                     .trials = 64,
                                     .priority = 1,
                                     .submitter = "ann"});
  while (world.GetJob(high).state != JobState::kDone && world.Step()) {
  }
  std::map<std::string, int> measured = FirstMeasured(world, 1000);
  EXPECT_GE(measured[Sha256Hex("high")], 55) << "of 64, some of which do not build";
  EXPECT_LE(measured[Sha256Hex("low")], 24) << "what was under way when it came";
}

// By gain alone the job of long kernels would have gone first until it had nothing more to win.
TEST(TuningLoopShares, TheJobsOfOneSubmitterTakeTurns) {
  World world({.least_open_trials = 16});
  world.AddWorker("w1", 1);
  world.Submit({.client_id = "long",
                .workloads = {"a1", "a2", "a3", "a4", "a5", "a6"},
                .trials = 64,
                .submitter = "ann"});
  const int64_t job =
      world.Submit({.client_id = "short", .workloads = {"b"}, .trials = 40, .submitter = "ann"});
  while (world.GetJob(job).state != JobState::kDone && world.Step()) {
  }
  EXPECT_LE(world.Records(Purpose::kSearch).size(), 140u) << "of 424";
}

// With the least that a submitter can be allowed, too: one batch at a time.
TEST(TuningLoopShares, ManyJobsOfOneSubmitterTakeTurns) {
  for (const int64_t most_open_of_one : {0, 8}) {
    constexpr int kJobs = 8;
    constexpr size_t kMeasured = 480;  // of 1024: gain has a say by then
    World world({.most_open_of_one = most_open_of_one});
    world.AddWorker("w1", 1);
    for (int i = 0; i < kJobs; ++i) {
      const std::string name = "a" + std::to_string(i);
      world.Submit({.client_id = name,
                    .workloads = {name, name + " too"},
                    .trials = 64,
                    .submitter = "ann"});
    }
    while (world.workers.at("w1")->ran.size() < kMeasured && world.Step()) {
    }
    std::map<std::string, int> measured = FirstMeasured(world, kMeasured);
    for (int i = 0; i < kJobs; ++i) {
      const std::string name = "a" + std::to_string(i);
      EXPECT_NEAR(measured[Sha256Hex(name)] + measured[Sha256Hex(name + " too")], 60, 20) << name;
    }
  }
}

TEST(TuningLoopShares, AStepOfPriorityDoublesTheShareAgainstOthers) {
  World world({.least_open_trials = 48});
  world.AddWorker("w1", 1);
  world.Submit({.client_id = "ann",
                .workloads = {"a1", "a2", "a3", "a4"},
                .trials = 64,
                .priority = 1,
                .submitter = "ann"});
  world.Submit({.client_id = "ben",
                .workloads = {"b1", "b2", "b3", "b4"},
                .trials = 64,
                .submitter = "ben"});
  world.Run();
  std::map<std::string, int> measured = FirstMeasured(world, 200);
  int of_ann = 0;
  for (const char* workload : {"a1", "a2", "a3", "a4"}) of_ann += measured[Sha256Hex(workload)];
  EXPECT_GE(of_ann, 110);
  EXPECT_LE(of_ann, 155);
}

}  // namespace
}  // namespace hone::tuner
