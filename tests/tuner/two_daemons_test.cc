// Jobs of two daemons on one store that want the same tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "support/random.h"
#include "tests/tuner/world.h"
#include "tuning_db/memory/memory_store.h"

namespace hone::tuner {
namespace {

using tuning_db::JobState;
using tuning_db::Purpose;

// A store that lets something happen just before a job's state changes.
class InterruptedStore : public tuning_db::MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  absl::Status SetJobState(const tuning_db::Ownership& ownership, int64_t id, JobState state,
                           const std::string& message) override {
    if (id == job && state == JobState::kRunning) {
      if (const auto happens = std::exchange(before, nullptr)) happens();
    }
    return MemoryStore::SetJobState(ownership, id, state, message);
  }

  int64_t job = 0;
  std::function<void()> before;  // once, before this job runs
};

using Change = void (TuningLoop::*)(int64_t job, std::function<void(absl::Status)> done);

struct TwoDaemons {
  TwoDaemons() {
    first.AddWorker("w1");
    second.AddWorker("w2");
  }

  // Both do what they can until nothing is left to happen.
  void Run() {
    for (int steps = 0; first.Step() || second.Step(); ++steps) {
      ASSERT_LT(steps, 200'000) << "the daemons run in a circle";
    }
  }
  // Time passes for both.
  void Wait(int64_t ns) {
    constexpr int64_t kTickNs = 200'000'000;
    for (int64_t passed = 0; passed < ns; passed += kTickNs) {
      shared->clock.now_ns += kTickNs;
      for (World* const world : {&first, &second}) {
        world->dispatcher->Tick();
        world->loop->Tick();
      }
      Run();
    }
  }
  static absl::Status Ask(World& world, Change change, int64_t job) {
    absl::Status answer = absl::UnknownError("not answered");
    std::invoke(change, *world.loop, job, [&](const absl::Status& status) { answer = status; });
    world.Drain();
    return answer;
  }

  JobState StateOf(int64_t job) { return shared->store->GetJob(job).value().state; }
  // How many trials each task has, by its number.
  std::map<int64_t, int64_t> Trials() {
    std::map<int64_t, int64_t> trials;
    const auto records = first.Records(Purpose::kSearch);
    for (const tuning_db::Record& record : records) ++trials[record.of_trial.task];
    return trials;
  }
  void ExpectDone(const std::vector<int64_t>& jobs, const std::map<int64_t, int64_t>& trials) {
    for (const int64_t job : jobs) EXPECT_EQ(StateOf(job), JobState::kDone) << "job " << job;
    EXPECT_TRUE(shared->store->OpenTrials(0).value().empty());
    EXPECT_EQ(Trials(), trials);
    EXPECT_THAT(shared->store->Check().value(), testing::IsEmpty());
  }

  const std::shared_ptr<SharedStore> shared = [] {
    auto made = std::make_shared<SharedStore>();
    made->store = std::make_unique<InterruptedStore>(made->clock);
    return made;
  }();
  World first{shared, "first"};
  World second{shared, "second"};
};

TEST(TwoDaemons, APausedJobHoldsUpNoJobOfTheOtherDaemon) {
  TwoDaemons daemons;
  const int64_t paused = daemons.first.Submit({.client_id = "paused", .trials = 24});
  daemons.first.Run(70);
  ASSERT_TRUE(daemons.Ask(daemons.first, &TuningLoop::PauseJob, paused).ok());
  daemons.Run();
  ASSERT_FALSE(daemons.shared->store->OpenTrials(paused).value().empty());
  const int64_t other = daemons.second.Submit({.client_id = "other", .trials = 24});
  daemons.Run();
  daemons.Wait(60 * kSecondNs);
  EXPECT_EQ(daemons.StateOf(paused), JobState::kPaused);
  daemons.ExpectDone({other}, {{1, 24}});
  ASSERT_TRUE(daemons.Ask(daemons.first, &TuningLoop::ResumeJob, paused).ok());
  daemons.Run();
  daemons.ExpectDone({paused, other}, {{1, 24}});
}

TEST(TwoDaemons, AJobThatWaitsStartsOnceTheOneBeforeItIsPaused) {
  TwoDaemons daemons;
  const int64_t older = daemons.first.Submit({.client_id = "older", .trials = 40});
  daemons.first.Run(70);
  const int64_t younger = daemons.second.Submit({.client_id = "younger", .trials = 30});
  daemons.second.Run();
  ASSERT_EQ(daemons.StateOf(younger), JobState::kQueued);
  ASSERT_TRUE(daemons.Ask(daemons.first, &TuningLoop::PauseJob, older).ok());
  daemons.Wait(60 * kSecondNs);
  EXPECT_EQ(daemons.StateOf(older), JobState::kPaused);
  daemons.ExpectDone({younger}, {{1, 30}});
}

TEST(TwoDaemons, AResumedJobWaitsForTheOneThatTunesItsTasksNow) {
  TwoDaemons daemons;
  const int64_t older = daemons.first.Submit({.client_id = "older", .trials = 40});
  daemons.first.Run(60);
  ASSERT_TRUE(daemons.Ask(daemons.first, &TuningLoop::PauseJob, older).ok());
  daemons.Run();
  const int64_t younger = daemons.second.Submit({.client_id = "younger", .trials = 30});
  daemons.second.Run(60);
  ASSERT_EQ(daemons.StateOf(younger), JobState::kRunning);
  ASSERT_TRUE(daemons.Ask(daemons.first, &TuningLoop::ResumeJob, older).ok());
  EXPECT_EQ(daemons.StateOf(older), JobState::kQueued);
  daemons.Wait(60 * kSecondNs);
  daemons.ExpectDone({older, younger}, {{1, 40}});
}

TEST(TwoDaemons, OfTwoJobsThatBeginAtTheSameMomentOneRuns) {
  TwoDaemons daemons;
  const int64_t older = daemons.first.Submit({.client_id = "older", .trials = 40});
  ASSERT_TRUE(daemons.Ask(daemons.first, &TuningLoop::PauseJob, older).ok());
  auto& store = dynamic_cast<InterruptedStore&>(*daemons.shared->store);
  // The second daemon has seen that the first one's job is paused.
  store.job = 2;
  store.before = [&] {
    ASSERT_TRUE(daemons.Ask(daemons.first, &TuningLoop::ResumeJob, older).ok());
    ASSERT_EQ(daemons.StateOf(older), JobState::kRunning);
  };
  const int64_t younger = daemons.second.Submit({.client_id = "younger", .trials = 30});
  ASSERT_EQ(younger, store.job);
  daemons.second.Run();
  EXPECT_EQ(daemons.StateOf(younger), JobState::kQueued) << "it has seen that the other was faster";
  EXPECT_TRUE(daemons.second.workers.at("w2")->ran.empty());
  daemons.Wait(60 * kSecondNs);
  daemons.ExpectDone({older, younger}, {{1, 40}});
}

// Nobody asks how often a daemon looks whose its jobs are: it hears of it.
TEST(TwoDaemons, WhatIsAskedOfTheOtherDaemonTakesEffectAtTheNextTick) {
  TwoDaemons daemons;
  const int64_t job = daemons.first.Submit({.client_id = "job", .trials = 60});
  FakeWorker& worker = *daemons.first.workers.at("w1");
  daemons.first.Run(70);
  ASSERT_TRUE(daemons.Ask(daemons.second, &TuningLoop::PauseJob, job).ok());
  daemons.first.loop->Tick();
  daemons.first.Drain();
  const size_t begun = worker.ran.size() + worker.assignments.size();
  daemons.Wait(60 * kSecondNs);
  EXPECT_EQ(worker.ran.size(), begun) << "what the device had is finished, and no more";
  EXPECT_EQ(daemons.StateOf(job), JobState::kPaused);

  ASSERT_TRUE(daemons.Ask(daemons.second, &TuningLoop::ResumeJob, job).ok());
  daemons.first.loop->Tick();
  while (worker.ran.size() == begun) ASSERT_TRUE(daemons.first.Step());
  EXPECT_EQ(daemons.StateOf(job), JobState::kRunning);

  ASSERT_TRUE(daemons.Ask(daemons.second, &TuningLoop::CancelJob, job).ok());
  daemons.first.loop->Tick();
  daemons.first.Drain();
  EXPECT_EQ(daemons.StateOf(job), JobState::kCancelled);
  EXPECT_TRUE(worker.assignments.empty()) << "they were revoked";
  EXPECT_TRUE(daemons.shared->store->OpenTrials(0).value().empty());
}

// The owner sees both at once, or never sees that the job was paused.
TEST(TwoDaemons, AJobThatIsPausedAndResumedThroughTheOtherDaemonGoesOn) {
  TwoDaemons daemons;
  const int64_t job = daemons.first.Submit({.client_id = "job", .trials = 40});
  daemons.first.Run(70);
  ASSERT_TRUE(daemons.Ask(daemons.second, &TuningLoop::PauseJob, job).ok());
  ASSERT_TRUE(daemons.Ask(daemons.second, &TuningLoop::ResumeJob, job).ok());
  ASSERT_EQ(daemons.StateOf(job), JobState::kQueued);
  daemons.first.loop->Tick();
  daemons.first.Drain();
  EXPECT_EQ(daemons.StateOf(job), JobState::kRunning);
  daemons.Wait(60 * kSecondNs);
  daemons.ExpectDone({job}, {{1, 40}});
}

// It stood still while the other took its job over and lost it again.
TEST(TwoDaemons, AJobThatWasTheOthersBetweenTwoLooksIsBegunAnew) {
  World whole;
  whole.AddWorker("w1");
  whole.Submit({.client_id = "job", .trials = 60});
  whole.Run();
  TwoDaemons daemons;
  const int64_t job = daemons.first.Submit({.client_id = "job", .trials = 60});
  daemons.first.Run(100);
  tuning_db::Store& store = *daemons.shared->store;
  // Who is late itself only renews, and takes from its next call on.
  const auto take = [&](World& world) {
    const tuning_db::Ownership& self = world.farm_options.ownership;
    EXPECT_TRUE(store.RenewJobs(self, 10 * kSecondNs).ok());
    return store.TakeJobs(self, 10 * kSecondNs).value().size();
  };
  daemons.shared->clock.now_ns += 11 * kSecondNs;
  ASSERT_EQ(take(daemons.second), 1u);
  daemons.second.loop->SeeOwners({job});
  while (daemons.Trials()[1] < 40) {
    daemons.shared->clock.now_ns += kSecondNs / 5;
    take(daemons.second);
    daemons.second.dispatcher->Tick();
    daemons.second.loop->Tick();
    daemons.second.Run(20);
  }
  daemons.shared->clock.now_ns += 11 * kSecondNs;
  ASSERT_EQ(take(daemons.first), 1u);
  daemons.first.loop->SeeOwners({job});
  // The first one's worker was silent meanwhile.
  daemons.first.AddWorker("w3");
  daemons.Wait(120 * kSecondNs);
  daemons.ExpectDone({job}, {{1, 60}});
  EXPECT_TRUE(daemons.first.EndState() == whole.EndState());
}

TEST(TwoDaemons, BudgetsAreMetExactlyWhateverIsPausedWheneverThroughWhichever) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    TwoDaemons daemons;
    const std::vector<int64_t> jobs = {
        daemons.first.Submit({.client_id = "a", .workloads = {"conv", "dense"}, .trials = 40}),
        daemons.second.Submit({.client_id = "b", .workloads = {"dense", "pool"}, .trials = 30}),
        daemons.first.Submit({.client_id = "c", .workloads = {"pool"}, .trials = 40})};
    const auto any = [&]() -> World& {
      return random.Below(2) == 0 ? daemons.first : daemons.second;
    };
    for (int i = 0; i < 12; ++i) {
      const Change change = random.Below(2) == 0 ? &TuningLoop::PauseJob : &TuningLoop::ResumeJob;
      (void)daemons.Ask(any(), change, jobs[random.Below(jobs.size())]);
      for (uint64_t steps = random.Below(120); steps > 0; --steps) any().Step();
      if (random.Below(3) == 0) any().loop->Tick();
    }
    for (const int64_t job : jobs) (void)daemons.Ask(any(), &TuningLoop::ResumeJob, job);
    daemons.Wait(200 * kSecondNs);
    daemons.ExpectDone(jobs, {{1, 40}, {2, 40}, {3, 40}});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hone::tuner
