// What the farm does where its store fails, or is another daemon's by now.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "tests/tuner/world.h"
#include "tuner/farm/dispatcher.h"
#include "tuning_db/memory/memory_store.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using tuning_db::JobState;
using tuning_db::Purpose;

// Trials of a job that the store has and no loop runs: the test stands for the job layer.
std::vector<tuning_db::Trial> ProposeBehindTheLoop(World& world,
                                                   const tuning_db::Ownership& ownership) {
  world.Drain();  // the loop has looked what there is
  tuning_db::Task wanted;
  wanted.workload = "conv";
  wanted.target = kFakeTarget;
  const int64_t task = world.store->EnsureTask(wanted).value();
  tuning_db::Job job;
  job.client_id = "behind the loop";
  job.owner = ownership.owner;
  job.epoch = ownership.epoch;
  job.tasks.push_back({task, "NC->NC", "conv", 1, 3});
  const int64_t id = world.store->SubmitJob(job).value().id;
  EXPECT_TRUE(world.store->SetJobState(id, JobState::kRunning, "").ok());
  std::vector<tuning_db::Trial> trials(3);
  for (size_t i = 0; i < trials.size(); ++i) {
    trials[i].task = task;
    trials[i].signature = "NC->NC";
    trials[i].config_digest = std::to_string(i);
    trials[i].job = id;
  }
  return world.store->Propose(trials).value();
}

TEST(FarmStore, AStoreThatFailsToSettleIsNoFaultOfTrialOrDevice) {
  DispatcherOptions farm;
  farm.silent_intervals = 1'000'000;
  World world({}, farm);
  const tuning_db::Trial trial = ProposeBehindTheLoop(world, {}).at(0);
  int asked = 0;
  world.dispatcher->Measure(FakeRequest(trial),
                            [&](const MeasureReport&, const SettledCallback& settled) {
                              ++asked;
                              settled(absl::UnavailableError("disk I/O error"));
                            });
  FakeWorker& worker = world.AddWorker("w1", 1);
  while (worker.sent.empty()) ASSERT_TRUE(world.Step());
  const v1::MeasureResult result = worker.sent.front();
  world.Wait(200 * kSecondNs);  // longer than its lease
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(worker.WasRevoked(result.fence()));
  EXPECT_EQ(worker.held.count(result.fence()), 1u) << "not acknowledged";
  std::vector<v1::WorkerInfo> workers;
  world.dispatcher->ListWorkers("", [&](auto list) { workers = std::move(list.workers); });
  world.Drain();
  EXPECT_TRUE(workers.at(0).quarantined().empty());
  const auto open = world.store->OpenTrials(0).value().at(0);
  EXPECT_EQ(open.strikes, 0);
  EXPECT_EQ(open.fence, result.fence()) << "nobody else measures it";
  worker.Disconnect(false);
  worker.Connect();
  world.Run();
  EXPECT_EQ(worker.held.count(result.fence()), 0u) << "acknowledged, now that the store works";
  const auto records = world.Records(Purpose::kSearch);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records.at(0).trial, trial.id);
}

// A store whose releases fail as often as it is told to.
class FailsToRelease : public tuning_db::MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  absl::Status ReleaseMany(std::vector<tuning_db::ReleaseRequest> requests,
                           std::function<void(ReleaseAnswers)> done) override {
    if (failures == 0) return MemoryStore::ReleaseMany(std::move(requests), std::move(done));
    if (--failures % 2 == 0) return absl::ResourceExhaustedError("too many wait");
    done(ReleaseAnswers(requests.size(), absl::UnavailableError("disk I/O error")));
    return absl::OkStatus();
  }

  int failures = 0;
};

TEST(FarmStore, AReleaseThatFailsIsAskedForAgain) {
  World world;
  FailsToRelease store(world.clock);
  tuning_db::Task task;
  task.workload = "conv";
  task.target = kFakeTarget;
  tuning_db::Trial wanted;
  wanted.task = store.EnsureTask(task).value();
  const tuning_db::Trial trial = store.Propose({}, {wanted}).value().at(0);
  Dispatcher dispatcher({}, &store, &world.clock, &world.executor);
  FakeWorker worker("w1", &dispatcher, 1);
  worker.Connect();
  dispatcher.Measure(FakeRequest(trial), [](const MeasureReport&, const SettledCallback&) {});
  world.Drain();
  ASSERT_EQ(worker.assignments.size(), 1u);
  store.failures = 5;
  worker.Begin();
  worker.Disconnect(true);
  const auto pass = [&](int64_t ns) {
    for (int64_t passed = 0; passed < ns; passed += kSecondNs / 4) {
      world.clock.now_ns += kSecondNs / 4;
      dispatcher.Tick();
      world.Drain();
    }
  };
  pass(31 * kSecondNs);  // the grace
  pass(2 * kSecondNs);
  EXPECT_EQ(store.failures, 0);
  const auto open = store.OpenTrials(0).value().at(0);
  EXPECT_EQ(open.state, tuning_db::TrialState::kProposed);
  EXPECT_EQ(open.strikes, 1) << "what it was struck for is not forgotten";
}

TEST(FarmStore, ADaemonWhoseJobIsAnothersLeasesNothingOfItAndSaysSo) {
  DispatcherOptions farm;
  farm.ownership = {"unix:first", 2};
  World world({}, farm);
  ASSERT_EQ(world.store->BeginEpoch("unix:first", 10 * kSecondNs).value().epoch, 2);
  const auto trials = ProposeBehindTheLoop(world, farm.ownership);
  const int64_t job = trials[0].job;
  std::vector<MeasureReport> reports;
  SettledCallback settle;
  const auto measure = [&](const tuning_db::Trial& trial) {
    world.dispatcher->Measure(FakeRequest(trial),
                              [&](const MeasureReport& report, const SettledCallback& settled) {
                                reports.push_back(report);
                                settle = settled;
                              });
  };
  measure(trials[0]);
  FakeWorker& worker = world.AddWorker("w1", 1);
  world.Drain();
  ASSERT_EQ(worker.assignments.size(), 1u) << "it is its own";
  const int64_t fence = worker.assignments.front().fence();
  // The first daemon stands still until its time is up; another takes the job over.
  world.clock.now_ns += 11 * kSecondNs;
  const auto second = world.store->BeginEpoch("unix:second", 10 * kSecondNs).value();
  ASSERT_EQ(world.store->TakeJobs(second, 10 * kSecondNs).value().size(), 1u);
  EXPECT_TRUE(absl::IsAborted(world.store->SetJobState(farm.ownership, job, JobState::kDone, "")));
  world.Run();
  ASSERT_EQ(reports.size(), 1u);
  settle(tuning_db::SettleResult::kSettled);
  measure(trials[1]);
  world.Run();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].kind, MeasureReport::Kind::kMeasured) << "good by its fence, wherever";
  EXPECT_EQ(reports[0].fence, fence);
  EXPECT_EQ(reports[1].kind, MeasureReport::Kind::kForeign);
  EXPECT_TRUE(worker.assignments.empty());
  const std::vector<tuning_db::Trial> open = world.store->OpenTrials(0).value();
  for (const tuning_db::Trial& trial : open) {
    EXPECT_EQ(trial.attempt, trial.id == trials[0].id ? 1 : 0);
  }
}

TEST(FarmStore, ADaemonDropsAJobThatAnotherHasTaken) {
  DispatcherOptions farm;
  farm.ownership = {"unix:first", 2};
  World world({}, farm);
  ASSERT_EQ(world.store->BeginEpoch("unix:first", 10 * kSecondNs).value().epoch, 2);
  FakeWorker& idle = world.AddWorker("idle", 0);
  const int64_t job = world.Submit({});
  world.Run();
  ASSERT_EQ(world.store->TakeJobs(farm.ownership, 10 * kSecondNs).value().size(), 1u);
  FakeWorker& worker = world.AddWorker("w1", 1);
  while (world.Records(Purpose::kSearch).size() < 3) ASSERT_TRUE(world.Step());
  world.clock.now_ns += 11 * kSecondNs;
  const auto second = world.store->BeginEpoch("unix:second", 10 * kSecondNs).value();
  ASSERT_EQ(world.store->TakeJobs(second, 10 * kSecondNs).value().size(), 1u);
  const size_t open = world.store->OpenTrials(job).value().size();
  world.Wait(2 * kSecondNs);
  // What was with a device was settled; nothing else of the job was touched.
  EXPECT_LE(world.Records(Purpose::kSearch).size(), 4u);
  EXPECT_GE(world.store->OpenTrials(job).value().size() + 1, open);
  EXPECT_EQ(world.GetJob(job).state, JobState::kRunning) << "the second daemon runs it";
  EXPECT_TRUE(worker.assignments.empty());
  EXPECT_TRUE(idle.assignments.empty());
}

}  // namespace
}  // namespace hone::tuner
