// What the farm does where its store takes no more for a moment, or is away: it asks again.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "tests/tuner/fakes.h"
#include "tuner/farm/dispatcher.h"
#include "tuning_db/memory/memory_store.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;

// A store whose queue is full when it is told to be, and which counts what it is asked.
class BoundedStore : public tuning_db::MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  absl::Status LeaseMany(std::vector<tuning_db::LeaseRequest> requests,
                         std::function<void(LeaseAnswers)> done) override {
    if (Refuses(requests.size())) return Full();
    if (!fails_leases) return MemoryStore::LeaseMany(std::move(requests), std::move(done));
    done(LeaseAnswers(requests.size(), absl::UnavailableError("the server is away")));
    return absl::OkStatus();
  }
  absl::Status ReleaseMany(std::vector<tuning_db::ReleaseRequest> requests,
                           std::function<void(ReleaseAnswers)> done) override {
    if (Refuses(requests.size())) return Full();
    releases.push_back(requests.size());
    if (!fails_releases) return MemoryStore::ReleaseMany(std::move(requests), std::move(done));
    done(ReleaseAnswers(requests.size(), absl::UnavailableError("disk I/O error")));
    return absl::OkStatus();
  }
  absl::Status GetMany(std::vector<int64_t> trials, std::function<void(GetAnswers)> done) override {
    if (Refuses(trials.size())) return Full();
    return MemoryStore::GetMany(std::move(trials), std::move(done));
  }
  absl::Status SettleMany(std::vector<tuning_db::Settlement> settlements,
                          std::function<void(SettleAnswers)> done) override {
    if (Refuses(settlements.size()) || refuses_settlements) return Full();
    return MemoryStore::SettleMany(std::move(settlements), std::move(done));
  }

  absl::Status SetDeviceRest(const tuning_db::DeviceRest& rest) override {
    if (is_away) return absl::UnavailableError("the server is away");
    return MemoryStore::SetDeviceRest(rest);
  }

  bool is_away = false;
  bool is_full = false;
  bool refuses_settlements = false;
  bool fails_leases = false;    // at their commit
  bool fails_releases = false;  // likewise
  int refused = 0;
  std::vector<size_t> releases;  // how many each batch had

 private:
  bool Refuses(size_t entries) {
    const bool refuses = is_full || entries > tuning_db::kMostWaiting;
    refused += refuses;
    return refuses;
  }
  static absl::Status Full() { return absl::ResourceExhaustedError("too many wait"); }
};

class BoundedStoreTest : public testing::Test {
 protected:
  // New trials of one task, which are to be measured.
  std::vector<tuning_db::Trial> Measure(size_t count) {
    tuning_db::Task task;
    task.workload = "conv";
    task.target = kFakeTarget;
    tuning_db::Trial wanted;
    wanted.task = store_.EnsureTask(task).value();
    std::vector<tuning_db::Trial> trials(count, wanted);
    for (size_t i = 0; i < count; ++i) trials[i].config_digest = std::to_string(i);
    trials = store_.Propose({}, trials).value();
    for (const tuning_db::Trial& trial : trials) {
      dispatcher_.Measure(FakeRequest(trial),
                          [this](const MeasureReport&, const SettledCallback&) { ++reports_; });
    }
    return trials;
  }
  void Drain() {
    while (executor_.RunOne()) {
    }
  }
  void Tick() {
    clock_.now_ns += kSecondNs / 4;
    dispatcher_.Tick();
    Drain();
  }

  FakeClock clock_;
  ManualExecutor executor_;
  BoundedStore store_{clock_};
  Dispatcher dispatcher_{{}, &store_, &clock_, &executor_};
  FakeWorker worker_{"w1", &dispatcher_, 200};
  int reports_ = 0;
};

TEST_F(BoundedStoreTest, LeasesThatAFullStoreRefusesAreAskedForAtTheNextTick) {
  worker_.Connect();
  store_.is_full = true;
  const auto trials = Measure(3);
  Drain();
  EXPECT_EQ(store_.refused, 1) << "it is not asked in vain";
  Tick();
  EXPECT_EQ(store_.refused, 2);
  EXPECT_TRUE(worker_.assignments.empty());
  dispatcher_.Cancel(trials[1].id);
  store_.is_full = false;
  Tick();
  ASSERT_EQ(worker_.assignments.size(), 2u);
  EXPECT_EQ(worker_.assignments[0].trial(), trials[0].id);
  EXPECT_EQ(worker_.assignments[1].trial(), trials[2].id);
  EXPECT_EQ(reports_, 0);
  EXPECT_EQ(store_.OpenTrials(0).value().at(1).state, tuning_db::TrialState::kProposed);
}

TEST_F(BoundedStoreTest, LeasesOfAStoreThatIsAwayKeepTheirPlace) {
  worker_.Connect();
  store_.fails_leases = true;
  const auto trials = Measure(3);
  Drain();
  Tick();
  EXPECT_TRUE(worker_.assignments.empty());
  store_.fails_leases = false;
  Tick();
  ASSERT_EQ(worker_.assignments.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(worker_.assignments[i].trial(), trials[i].id);
}

TEST_F(BoundedStoreTest, HowADeviceFaresIsStoredOnceTheStoreIsBack) {
  store_.is_away = true;
  worker_.device_lost = true;
  worker_.Connect();
  Measure(1);
  do {
    Drain();
  } while (worker_.RunOne());
  EXPECT_TRUE(store_.ListDeviceRests().value().empty());
  store_.is_away = false;
  Tick();
  const auto rests = store_.ListDeviceRests().value();
  ASSERT_EQ(rests.size(), 1u);
  EXPECT_EQ(rests[0].worker, "w1");
}

TEST_F(BoundedStoreTest, NoBatchIsGreaterThanAStoreTakes) {
  std::vector<std::unique_ptr<FakeWorker>> workers;
  for (int i = 0; i < 24; ++i) {
    workers.push_back(std::make_unique<FakeWorker>("many" + std::to_string(i), &dispatcher_, 200));
  }
  Measure(24 * 200);
  Drain();
  store_.is_full = true;
  for (const auto& worker : workers) worker->Connect();
  Drain();
  store_.is_full = false;
  Tick();
  for (const auto& worker : workers) EXPECT_EQ(worker->assignments.size(), 200u);
  store_.refused = 0;
  for (const auto& worker : workers) worker->Disconnect(true);
  Drain();
  clock_.now_ns += 31 * kSecondNs;
  Tick();
  EXPECT_EQ(store_.refused, 0);
  const std::vector<tuning_db::Trial> open = store_.OpenTrials(0).value();
  for (const tuning_db::Trial& trial : open) {
    ASSERT_EQ(trial.state, tuning_db::TrialState::kProposed);
  }
}

TEST_F(BoundedStoreTest, WhatIsLostTogetherIsReleasedTogether) {
  worker_.Connect();
  Measure(50);
  Drain();
  ASSERT_EQ(worker_.assignments.size(), 50u);
  store_.is_full = true;
  worker_.Disconnect(true);
  worker_.Connect();
  Drain();
  EXPECT_TRUE(store_.releases.empty());
  store_.is_full = false;
  Tick();
  EXPECT_EQ(store_.releases, std::vector<size_t>{50});
  EXPECT_EQ(worker_.assignments.size(), 50u) << "given again";
}

// Otherwise the release would come too late, and its strike be forgotten.
TEST_F(BoundedStoreTest, ATrialIsGivenElsewhereOnceItsReleaseIsCommitted) {
  worker_.Connect();
  Measure(1);
  Drain();
  worker_.Begin();
  Drain();
  worker_.Disconnect(true);
  Drain();
  FakeWorker other("w2", &dispatcher_, 1);
  store_.fails_releases = true;
  clock_.now_ns += 31 * kSecondNs;
  for (int i = 0; i < 3; ++i) Tick();
  other.Connect();
  Drain();
  EXPECT_TRUE(other.assignments.empty());
  store_.fails_releases = false;
  Tick();
  EXPECT_EQ(other.assignments.size(), 1u);
  EXPECT_EQ(store_.OpenTrials(0).value().at(0).strikes, 1);
}

TEST_F(BoundedStoreTest, ResultsOfAnEarlierLifeWaitForAFullStore) {
  Measure(1);
  worker_.Connect();
  Drain();
  while (worker_.sent.empty()) {
    ASSERT_TRUE(worker_.RunOne());
    Drain();
  }
  const v1::MeasureResult result = worker_.sent.front();
  worker_.Disconnect(false);
  Drain();
  Dispatcher next({}, &store_, &clock_, &executor_);
  worker_.SetDispatcher(&next);
  store_.is_full = true;
  const auto tick = [&] {
    next.Tick();
    Drain();
  };
  worker_.Connect();
  Drain();
  tick();
  store_.is_full = false;
  store_.refuses_settlements = true;
  tick();
  EXPECT_EQ(worker_.held.size(), 1u);
  store_.refuses_settlements = false;
  tick();
  EXPECT_EQ(worker_.held.size(), 0u) << "acknowledged";
  EXPECT_FALSE(worker_.WasRevoked(result.fence()));
  EXPECT_TRUE(store_.OpenTrials(0).value().empty());
}

}  // namespace
}  // namespace hone::tuner
