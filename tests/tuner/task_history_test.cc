#include "tuner/jobs/task_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/digest.h"

namespace hone::tuner {
namespace {

class TaskHistoryTest : public ::testing::Test {
 protected:
  void Measure(const std::string& config, const std::string& device, double anchor_ns,
               std::vector<double> samples_ns,
               tuning_db::Outcome outcome = tuning_db::Outcome::kOk) {
    tuning_db::Task task;
    task.workload = "conv";
    task.workload_digest = Sha256Hex("conv");
    task.target = "here";
    tuning_db::Trial trial;
    trial.task = store_->EnsureTask(task).value();
    trial.signature = "NC->NC";
    trial.config = config;
    trial.config_digest = Sha256Hex(config);
    trial.nest_digest = trial.config_digest;
    tuning_db::Record record;
    record.outcome = outcome;
    record.samples_ns = std::move(samples_ns);
    record.median_ns = record.samples_ns.front();
    record.anchor_ns = anchor_ns;
    record.device = device;
    ASSERT_TRUE(store_->Import(trial, record).ok());
  }
  // Best first.
  std::vector<std::string> Ranked() {
    TaskHistory history(1, "NC->NC");
    EXPECT_TRUE(history.Load(*store_).ok());
    std::vector<std::string> configs;
    for (const TaskHistory::Entry* entry : history.Ranked()) {
      configs.push_back(entry->trial.config);
    }
    return configs;
  }
  std::vector<double> RelativeTimes(int64_t mark) {
    TaskHistory history(1, "NC->NC");
    EXPECT_TRUE(history.Load(*store_).ok());
    std::vector<double> times;
    for (const SettledTrial& trial : history.StateAt(mark).settled) {
      times.push_back(trial.relative_time);
    }
    return times;
  }

  std::unique_ptr<tuning_db::Store> store_ = tuning_db::MakeMemoryStore();
};

constexpr char kA[] = R"({"k":1})";
constexpr char kB[] = R"({"k":2})";
constexpr char kC[] = R"({"k":3})";

TEST_F(TaskHistoryTest, TrialsOfOneDeviceAreRankedByTheirLeastSample) {
  Measure(kA, "fast", 300, {100, 90, 120});
  Measure(kB, "fast", 200, {130, 80, 140});
  EXPECT_THAT(Ranked(), ::testing::ElementsAre(kB, kA));
  EXPECT_THAT(RelativeTimes(2), ::testing::ElementsAre(90, 80));
}

TEST_F(TaskHistoryTest, TrialsOfSeveralDevicesAreRankedInTimesOfTheirAnchors) {
  Measure(kA, "fast", 100, {90});
  Measure(kB, "slow", 400, {200});
  Measure(kC, "slow", 500, {360});                            // the anchor was disturbed
  EXPECT_THAT(Ranked(), ::testing::ElementsAre(kB, kA, kC));  // kA and kC alike
  EXPECT_THAT(RelativeTimes(3), ::testing::ElementsAre(0.9, 0.5, 0.9));
  EXPECT_THAT(RelativeTimes(1), ::testing::ElementsAre(90)) << "later trials are not to be known";
}

TEST_F(TaskHistoryTest, WhereADeviceHasNoAnchorTimesAreRankedAsTheyAre) {
  Measure(kA, "fast", 100, {90});
  Measure(kB, "slow", 0, {80});
  EXPECT_THAT(Ranked(), ::testing::ElementsAre(kB, kA));
}

// A default whose first trial failed, once or for good, says nothing of how much its task weighs.
TEST_F(TaskHistoryTest, TheFirstTimeIsThatOfTheFirstSuccess) {
  Measure(kA, "fast", 0, {0}, tuning_db::Outcome::kRunTimeout);
  TaskHistory failed(1, "NC->NC");
  ASSERT_TRUE(failed.Load(*store_).ok());
  EXPECT_EQ(failed.FirstTime(), 0);
  Measure(kB, "fast", 200, {130, 80, 140});
  Measure(kC, "fast", 200, {60});
  TaskHistory history(1, "NC->NC");
  ASSERT_TRUE(history.Load(*store_).ok());
  EXPECT_EQ(history.FirstTime(), 80);
}

// What is asked again and again is kept at hand, and says what is so now.
TEST_F(TaskHistoryTest, TheBestIsThatOfTheTrialsThereAreNow) {
  TaskHistory history(1, "NC->NC");
  EXPECT_EQ(history.BestNs(), 0);
  for (int64_t id = 1; id <= 3; ++id) {
    tuning_db::Trial trial;
    trial.id = id;
    trial.config = kA;
    history.Proposed(trial);
  }
  EXPECT_EQ(history.BestNs(), 0);
  const auto settle = [&](int64_t id, double median_ns, const std::string& regime) {
    tuning_db::Record record;
    record.trial = id;
    record.median_ns = median_ns;
    record.samples_ns = {median_ns};
    record.regime = regime;
    history.Settled(record);
  };
  settle(2, 50, "warm");
  EXPECT_EQ(history.BestNs(), 50);
  settle(3, 40, "cold");
  EXPECT_EQ(history.BestNs(), 40);
  EXPECT_EQ(history.BestNsBefore(1), 50);
  EXPECT_EQ(history.BestNsBefore(2), 0) << "of the first alone";
  EXPECT_EQ(history.BestNsBefore(9), 0);
  history.CompareIn("warm");
  EXPECT_EQ(history.BestNs(), 50);
}

TEST_F(TaskHistoryTest, APrefixIsSettledWhereNoneOfItIsOpen) {
  TaskHistory history(1, "NC->NC");
  EXPECT_TRUE(history.PrefixIsSettled(0));
  EXPECT_TRUE(history.PrefixIsSettled(5));
  for (int64_t id = 1; id <= 4; ++id) {
    tuning_db::Trial trial;
    trial.id = id;
    trial.config = kA;
    history.Proposed(trial);
  }
  const auto settled_prefix = [&] {
    int64_t n = -1;
    while (n < 6 && history.PrefixIsSettled(n + 1)) ++n;
    return n;
  };
  const auto settle = [&](int64_t id) {
    tuning_db::Record record;
    record.trial = id;
    history.Settled(record);
  };
  EXPECT_EQ(settled_prefix(), 0);
  settle(2);
  EXPECT_EQ(settled_prefix(), 0);
  settle(1);
  EXPECT_EQ(settled_prefix(), 2);
  settle(4);
  EXPECT_EQ(settled_prefix(), 2);
  settle(3);
  EXPECT_EQ(settled_prefix(), 6) << "there are no others";
}

}  // namespace
}  // namespace hone::tuner
