// The checker finds bugs that are planted: otherwise its silence would say
// nothing.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/farm_simulator/checker.h"
#include "tests/farm_simulator/farm.h"

namespace hone::sim {
namespace {

using tuning_db::Record;
using tuning_db::Settlement;
using tuning_db::SettleResult;
using tuning_db::Trial;

// Every n-th of the calls goes wrong.
class EveryNth {
 public:
  explicit EveryNth(int n) : n_(n) {}
  bool IsNow() { return ++calls_ % n_ == 0; }

 private:
  const int n_;
  int calls_ = 0;
};

// Says of each trial that it is under the first lease that it had, whatever became of that.
class SaysWhatWas : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;

 protected:
  absl::StatusOr<Trial> CommitLease(const tuning_db::LeaseRequest &request) override {
    auto leased = WatchedStore::CommitLease(request);
    if (leased.ok()) first_.emplace(request.trial, *leased);
    return leased;
  }
  absl::StatusOr<Trial> Get(int64_t trial) override {
    const auto it = first_.find(trial);
    return it == first_.end() ? WatchedStore::Get(trial) : it->second;
  }

 private:
  std::map<int64_t, Trial> first_;
};

// Says that each settlement is the trial's first.
class SettlesTwice : public SaysWhatWas {
 public:
  using SaysWhatWas::SaysWhatWas;

 protected:
  absl::StatusOr<SettleResult> CommitSettle(const Settlement &settlement) override {
    const auto result = WatchedStore::CommitSettle(settlement);
    if (!result.ok()) return result;
    return SettleResult::kSettled;
  }
};

class ForgetsSettlements : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;

 private:
  absl::StatusOr<SettleResult> CommitSettle(const Settlement &settlement) override {
    if (forgets_.IsNow()) return SettleResult::kSettled;
    return WatchedStore::CommitSettle(settlement);
  }

  EveryNth forgets_{10};
};

class ReusesFences : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;

 private:
  absl::StatusOr<Trial> CommitLease(const tuning_db::LeaseRequest &request) override {
    auto leased = WatchedStore::CommitLease(request);
    // Whose lease has ended: that a fence is nobody else's is what a daemon may rely on.
    if (leased.ok() && ++leases_ == 60) leased->fence = 1;
    return leased;
  }

  int leases_ = 0;
};

// Settles whatever comes, whichever lease is the newest.
class TakesLateResults : public SettlesTwice {
 public:
  using SettlesTwice::SettlesTwice;

 private:
  absl::StatusOr<Trial> CommitLease(const tuning_db::LeaseRequest &request) override {
    auto leased = SettlesTwice::CommitLease(request);
    if (leased.ok()) newest_[request.trial] = leased->fence;
    return leased;
  }
  absl::StatusOr<SettleResult> CommitSettle(const Settlement &settlement) override {
    Settlement late = settlement;
    late.fence = newest_[settlement.record.trial];
    return SettlesTwice::CommitSettle(late);
  }

  std::map<int64_t, int64_t> newest_;
};

class SpendsMoreThanTheBudget : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;
  absl::StatusOr<std::vector<Trial>> Propose(const tuning_db::Ownership &ownership,
                                             const std::vector<Trial> &trials) override {
    auto rows = WatchedStore::Propose(ownership, trials);
    if (!rows.ok() || trials.empty()) return rows;
    Trial extra = trials[0];
    extra.config_digest = "one more";
    EXPECT_TRUE(Import(extra, Record()).ok());
    return rows;
  }
};

class SpeaksAfterTheEnd : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;
  absl::StatusOr<std::vector<tuning_db::Event>> ListEvents(int64_t job, int64_t after_seq,
                                                           int64_t limit) override {
    auto events = WatchedStore::ListEvents(job, after_seq, limit);
    if (events.ok()) events->push_back({job, 0, "progress", "{}", 0});
    return events;
  }
};

class StoresWhatWasNotAssigned : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;

 private:
  absl::StatusOr<SettleResult> CommitSettle(const Settlement &settlement) override {
    Settlement other = settlement;
    if (!other.record.samples_ns.empty() && changes_.IsNow()) other.record.samples_ns[0] = 1;
    return WatchedStore::CommitSettle(other);
  }

  EveryNth changes_{10};
};

class LosesTheEndOfJobs : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;
  absl::Status SetJobState(const tuning_db::Ownership &ownership, int64_t id,
                           tuning_db::JobState state, const std::string &message) override {
    if (HasEnded(state)) return absl::OkStatus();
    return WatchedStore::SetJobState(ownership, id, state, message);
  }
};

// Says that it has settled trials of which it knows nothing any more.
class ForgetsTrials : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;
  absl::StatusOr<std::vector<Trial>> Propose(const tuning_db::Ownership &ownership,
                                             const std::vector<Trial> &trials) override {
    auto rows = WatchedStore::Propose(ownership, trials);
    if (rows.ok() && rows->size() > 1) rows->pop_back();
    return rows;
  }
};

class StrikesWhatWaited : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;
  absl::Status ReleaseMany(std::vector<tuning_db::ReleaseRequest> requests,
                           std::function<void(ReleaseAnswers)> done) override {
    for (tuning_db::ReleaseRequest &request : requests) request.is_strike = true;
    return WatchedStore::ReleaseMany(std::move(requests), std::move(done));
  }
};

class StoresAnotherToolchain : public WatchedStore {
 public:
  using WatchedStore::WatchedStore;

 private:
  absl::Status SettleMany(std::vector<Settlement> settlements,
                          std::function<void(SettleAnswers)> done) override {
    for (Settlement &settlement : settlements) settlement.record.toolchain = "another";
    return WatchedStore::SettleMany(std::move(settlements), std::move(done));
  }
};

template <typename Bug>
Plant InStore() {
  Plant plant;
  plant.store = [](const Clock &clock, EventQueue *queue, History *history) {
    return std::make_unique<Bug>(clock, queue, history);
  };
  return plant;
}

Plant InNetwork(std::function<void(NetworkWeather &)> change) {
  Plant plant;
  plant.network = std::move(change);
  return plant;
}

// The daemon keeps all that docs/protocol.md promises under these.
const std::set<Fault> kSurvived = {Fault::kResets, Fault::kWorkerKills};
// What makes results come late and twice.
const std::set<Fault> kLate = {Fault::kResets, Fault::kWorkerKills, Fault::kDaemonKills,
                               Fault::kStragglers, Fault::kBlackHoles};

constexpr uint64_t kFirstSeed = 5;
constexpr uint64_t kEndOfSeeds = 25;

// Names of the invariants that a run violates.
std::set<std::string_view> FoundIn(uint64_t seed, const Plant &plant,
                                   const std::set<Fault> &faults) {
  spdlog::set_level(spdlog::level::off);
  Scenario scenario{.seed = seed};
  scenario.faults = faults;
  const RunOutcome outcome = Simulate(scenario, plant);
  std::set<std::string_view> names;
  for (const Violation &violation : CheckAll({outcome.history, outcome.end})) {
    names.insert(violation.invariant);
  }
  return names;
}

// In one of a few runs.
bool IsFound(const Plant &plant, std::string_view invariant,
             const std::set<Fault> &faults = kSurvived) {
  for (uint64_t seed = kFirstSeed; seed < kEndOfSeeds; ++seed) {
    if (FoundIn(seed, plant, faults).count(invariant) > 0) return true;
  }
  return false;
}

TEST(PlantedBugs, NoneIsFoundWhereThereIsNone) {
  for (const std::set<Fault> &faults : {kSurvived, kLate, {Fault::kHangs}}) {
    for (uint64_t seed = kFirstSeed; seed < kEndOfSeeds; ++seed) {
      EXPECT_EQ(FoundIn(seed, {}, faults), std::set<std::string_view>()) << seed;
    }
  }
}

TEST(PlantedBugs, TrialsThatAreSettledTwice) {
  EXPECT_TRUE(IsFound(InStore<SettlesTwice>(), "settle-once", kLate));
}

TEST(PlantedBugs, TrialsThatAreNeverSettled) {
  EXPECT_TRUE(IsFound(InStore<ForgetsTrials>(), "settle-once"));
}

TEST(PlantedBugs, JobsThatNeverEnd) {
  EXPECT_TRUE(IsFound(InStore<LosesTheEndOfJobs>(), "job-ends"));
}

TEST(PlantedBugs, AcknowledgedResultsThatAreForgotten) {
  EXPECT_TRUE(IsFound(InStore<ForgetsSettlements>(), "acknowledged-kept"));
}

TEST(PlantedBugs, RecordsThatSayOtherThanWhatWasSettled) {
  EXPECT_TRUE(IsFound(InStore<StoresWhatWasNotAssigned>(), "settle-once"));
  EXPECT_TRUE(IsFound(InStore<StoresWhatWasNotAssigned>(), "acknowledged-kept"));
}

TEST(PlantedBugs, FencesThatAreUsedAgain) {
  EXPECT_TRUE(IsFound(InStore<ReusesFences>(), "fence-grows"));
}

TEST(PlantedBugs, LateResultsThatAreTaken) {
  EXPECT_TRUE(IsFound(InStore<TakesLateResults>(), "newest-fence", kLate));
}

TEST(PlantedBugs, AcknowledgementsBeforeTheCommit) {
  EXPECT_TRUE(
      IsFound(InNetwork([](NetworkWeather &w) { w.acknowledges_early = true; }), "commit-first"));
}

TEST(PlantedBugs, AssignmentsWithoutALease) {
  EXPECT_TRUE(
      IsFound(InNetwork([](NetworkWeather &w) { w.offers_unleased = true; }), "commit-first"));
}

TEST(PlantedBugs, MoreLeasesThanTheWindow) {
  EXPECT_TRUE(
      IsFound(InNetwork([](NetworkWeather &w) { w.doubles_windows = true; }), "window-kept"));
}

TEST(PlantedBugs, LeasesThatNobodyEnds) {
  Plant plant;
  plant.ticks_every = 1 << 30;
  EXPECT_TRUE(IsFound(plant, "lease-ends", {Fault::kHangs}));
}

TEST(PlantedBugs, LeasesThatEndSecondsTooLate) {
  Plant plant;
  plant.ticks_every = 16;  // every four seconds
  EXPECT_TRUE(IsFound(plant, "lease-ends", {Fault::kHangs}));
}

TEST(PlantedBugs, TwoOfOneResourceAtOnce) {
  Plant plant = InNetwork([](NetworkWeather &w) { w.hides_resources = true; });
  plant.devices_crowd = true;
  EXPECT_TRUE(IsFound(plant, "one-a-resource"));
}

TEST(PlantedBugs, TrialsThatAreStruckForWaiting) {
  EXPECT_TRUE(IsFound(InStore<StrikesWhatWaited>(), "no-blame-waiting", kLate));
}

TEST(PlantedBugs, RecordsOfWhatWasNotAssigned) {
  EXPECT_TRUE(IsFound(InStore<StoresAnotherToolchain>(), "echo-checked"));
}

TEST(PlantedBugs, TrialsBeyondTheBudget) {
  EXPECT_TRUE(IsFound(InStore<SpendsMoreThanTheBudget>(), "budget-exact"));
}

TEST(PlantedBugs, EventsAfterTheTerminalOne) {
  EXPECT_TRUE(IsFound(InStore<SpeaksAfterTheEnd>(), "job-ends"));
}

}  // namespace
}  // namespace hone::sim
