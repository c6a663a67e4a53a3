// The checker finds bugs that are planted: otherwise its silence would say nothing.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
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
#include "tests/farm_simulator/forwarding_store.h"

namespace hone::sim {
namespace {

using tuning_db::Record;
using tuning_db::SettleResult;
using tuning_db::Store;
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

class SettlesTwice : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  absl::StatusOr<SettleResult> Settle(int64_t fence, const Record& record) override {
    const auto result = next_->Settle(fence, record);
    if (!result.ok()) return result;
    return SettleResult::kSettled;
  }
};

class ForgetsSettlements : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  absl::StatusOr<SettleResult> Settle(int64_t fence, const Record& record) override {
    if (forgets_.IsNow()) return SettleResult::kSettled;
    return next_->Settle(fence, record);
  }

 private:
  EveryNth forgets_{10};
};

class ReusesFences : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  absl::StatusOr<Trial> Lease(int64_t trial, const std::string& worker) override {
    auto leased = next_->Lease(trial, worker);
    if (leased.ok() && reuses_.IsNow()) leased->fence -= 1;
    return leased;
  }

 private:
  EveryNth reuses_{10};
};

// Settles whatever comes, under the newest fence.
class TakesLateResults : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  absl::StatusOr<Trial> Lease(int64_t trial, const std::string& worker) override {
    auto leased = next_->Lease(trial, worker);
    if (leased.ok()) newest_[trial] = leased->fence;
    return leased;
  }
  absl::StatusOr<SettleResult> Settle(int64_t fence, const Record& record) override {
    return next_->Settle(newest_[record.trial], record);
  }

 private:
  std::map<int64_t, int64_t> newest_;
};

class SpendsMoreThanTheBudget : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  absl::StatusOr<std::vector<Trial>> Propose(const std::vector<Trial>& trials) override {
    auto rows = next_->Propose(trials);
    if (!rows.ok() || trials.empty()) return rows;
    Trial extra = trials[0];
    extra.config_digest = "one more";
    EXPECT_TRUE(next_->Import(extra, Record()).ok());
    return rows;
  }
};

class SpeaksAfterTheEnd : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  absl::Status SetJobState(int64_t id, tuning_db::JobState state,
                           const std::string& message) override {
    const absl::Status set = next_->SetJobState(id, state, message);
    EXPECT_TRUE(next_->AppendEvent(id, "progress", "{}").ok());
    return set;
  }
};

class StoresWhatWasNotAssigned : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  absl::StatusOr<SettleResult> Settle(int64_t fence, const Record& record) override {
    Record other = record;
    if (changes_.IsNow()) other.median_ns = other.samples_ns.emplace_back() = 1;
    return next_->Settle(fence, other);
  }

 private:
  EveryNth changes_{10};
};

template <typename Bug>
Plant InStore() {
  Plant plant;
  plant.store = [](Store* store) { return std::make_unique<Bug>(store); };
  return plant;
}

Plant InNetwork(std::function<void(NetworkWeather&)> change) {
  Plant plant;
  plant.network = std::move(change);
  return plant;
}

// Of these the daemon keeps all that docs/protocol.md promises.
const std::set<Fault> kSurvived = {Fault::kResets, Fault::kWorkerKills};
// What makes results come late and twice.
const std::set<Fault> kLate = {Fault::kResets, Fault::kWorkerKills, Fault::kDaemonKills,
                               Fault::kStragglers, Fault::kBlackHoles};

// In one of a few runs.
bool IsFound(const Plant& plant, std::string_view invariant,
             const std::set<Fault>& faults = kSurvived) {
  spdlog::set_level(spdlog::level::off);
  for (uint64_t seed = 5; seed < 10; ++seed) {
    Scenario scenario{.seed = seed};
    scenario.faults = faults;
    const Outcome outcome = Simulate(scenario, plant);
    const std::vector<Violation> found = CheckAll({outcome.history, outcome.end});
    if (std::any_of(found.begin(), found.end(),
                    [&](const Violation& violation) { return violation.invariant == invariant; })) {
      return true;
    }
  }
  return false;
}

TEST(PlantedBugs, NoneIsFoundWhereThereIsNone) {
  for (const Invariant& invariant : Invariants()) {
    EXPECT_FALSE(IsFound({}, invariant.name)) << invariant.name;
    EXPECT_FALSE(IsFound({}, invariant.name, {Fault::kHangs})) << invariant.name;
  }
}

TEST(PlantedBugs, TrialsThatAreSettledTwice) {
  EXPECT_TRUE(IsFound(InStore<SettlesTwice>(), "settle-once", kLate));
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
  EXPECT_TRUE(IsFound(InStore<TakesLateResults>(), "newest-fence", {Fault::kLies}));
}

TEST(PlantedBugs, AcknowledgementsBeforeTheCommit) {
  EXPECT_TRUE(
      IsFound(InNetwork([](NetworkWeather& w) { w.acknowledges_early = true; }), "commit-first"));
}

TEST(PlantedBugs, AssignmentsWithoutALease) {
  EXPECT_TRUE(
      IsFound(InNetwork([](NetworkWeather& w) { w.offers_unleased = true; }), "commit-first"));
}

TEST(PlantedBugs, MoreLeasesThanTheWindow) {
  EXPECT_TRUE(
      IsFound(InNetwork([](NetworkWeather& w) { w.doubles_windows = true; }), "window-kept"));
}

TEST(PlantedBugs, LeasesThatNobodyEnds) {
  Plant plant;
  plant.never_ticks = true;
  EXPECT_TRUE(IsFound(plant, "lease-ends", {Fault::kHangs}));
}

TEST(PlantedBugs, TrialsBeyondTheBudget) {
  EXPECT_TRUE(IsFound(InStore<SpendsMoreThanTheBudget>(), "budget-exact"));
}

TEST(PlantedBugs, EventsAfterTheTerminalOne) {
  EXPECT_TRUE(IsFound(InStore<SpeaksAfterTheEnd>(), "job-ends"));
}

}  // namespace
}  // namespace hone::sim
