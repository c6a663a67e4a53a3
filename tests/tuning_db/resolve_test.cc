#include "tuning_db/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/random.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

class ResolveTest : public testing::Test {
 protected:
  int64_t EnsureTask(const std::string& target = "here") {
    return store_->EnsureTask(ExampleTask(0, target)).value();
  }
  void Settle(int64_t task, int config, const Record& like, int64_t round = 0,
              Purpose purpose = Purpose::kSearch) {
    Trial trial = ExampleTrial(task, 0, config);
    trial.round = round;
    trial.purpose = purpose;
    const int64_t id = store_->Propose({trial}).value().at(0).id;
    Record record = like;
    record.trial = id;
    store_->Settle(store_->Lease(id, "w").value().fence, record).value();
  }
  Best Ask(const IsCompatible& is_compatible = nullptr) {
    const ResolveKey key{ExampleTask().workload_digest, kSignature};
    return Resolve(*store_, "here", {key}, is_compatible).value().at(0);
  }

  std::unique_ptr<Store> store_ = MakeMemoryStore();
};

Record Timed(double median_ns) { return ExampleRecord(0, median_ns); }

// A calibration.
Record Beside(double anchor_ns, double median_ns) {
  Record record = Timed(median_ns);
  record.anchor_ns = anchor_ns;
  return record;
}

TEST_F(ResolveTest, NothingMeasuredIsNoTier) {
  EXPECT_EQ(Ask().tier, Tier::kNone);
  EnsureTask();
  EXPECT_EQ(Ask().tier, Tier::kNone);
  EXPECT_EQ(Name(Tier::kNone), "");
}

TEST_F(ResolveTest, FinalAfterEnoughTrialsIsTuned) {
  const int64_t task = EnsureTask();
  store_->AddFinal(ExampleFinal(task, 0, 64)).value();
  const Best best = Ask();
  EXPECT_EQ(best.tier, Tier::kTuned);
  EXPECT_EQ(Name(best.tier), "tuned");
  EXPECT_EQ(best.config, "tile=8 unroll=4");
  EXPECT_EQ(best.nest_digest, "nest-winner");
  EXPECT_EQ(best.best_ns, 2005 / 2.0);  // by the paired ratio
  EXPECT_EQ(best.default_ns, 2005);
  EXPECT_EQ(best.ratio, 2.0);
  EXPECT_EQ(best.target, "here");
}

TEST_F(ResolveTest, FinalAfterTooFewTrialsIsTuning) {
  const int64_t task = EnsureTask();
  store_->AddFinal(ExampleFinal(task, 0, 63)).value();
  EXPECT_EQ(Ask().tier, Tier::kTuning);
  EXPECT_EQ(Ask().config, "tile=8 unroll=4");
}

TEST_F(ResolveTest, TunedIsAfter64TrialsOrAllOfASmallerSpace) {
  const auto is_tuned = [](int64_t distinct_trials, int64_t space_size) {
    Final final = ExampleFinal(1, 0, distinct_trials);
    final.space_size = space_size;
    return IsTuned(final);
  };
  EXPECT_TRUE(is_tuned(64, 5000));
  EXPECT_FALSE(is_tuned(63, 5000));
  EXPECT_TRUE(is_tuned(63, 63));
  EXPECT_FALSE(is_tuned(62, 63));
  EXPECT_TRUE(is_tuned(1, 1));
  EXPECT_FALSE(is_tuned(0, 0)) << "nothing was tried";
}

TEST_F(ResolveTest, FinalOfASearchThatEndedEarlyIsTuned) {
  Final final = ExampleFinal(EnsureTask(), 0, 5);
  final.ended_share = 0.01;
  store_->AddFinal(final).value();
  EXPECT_EQ(Ask().tier, Tier::kTuned);
}

TEST_F(ResolveTest, WholeSmallSpaceIsTuned) {
  Final final = ExampleFinal(EnsureTask(), 0, 12);
  final.space_size = 12;
  store_->AddFinal(final).value();
  EXPECT_EQ(Ask().tier, Tier::kTuned);
}

TEST_F(ResolveTest, ProvisionalBestIsThatOfTheLeastSample) {
  const int64_t task = EnsureTask();
  Record disturbed = Timed(1500);
  disturbed.samples_ns = {1600, 1500, 950};
  Settle(task, 1, Timed(1000));
  Settle(task, 2, disturbed);
  const Best best = Ask();
  EXPECT_EQ(best.tier, Tier::kTuning);
  EXPECT_EQ(best.config, ExampleTrial(0, 0, 2).config);
  EXPECT_EQ(best.best_ns, 1500);
  EXPECT_EQ(best.default_ns, 2000);
  EXPECT_DOUBLE_EQ(best.ratio, 2000.0 / 1500);
}

TEST_F(ResolveTest, OneLuckyTimeDoesNotWin) {
  const int64_t task = EnsureTask();
  Settle(task, 1, Timed(500), 0);
  Settle(task, 1, Timed(1100), 1);
  Settle(task, 1, Timed(1200), 2);
  Settle(task, 2, Timed(1000));
  EXPECT_EQ(Ask().config, ExampleTrial(0, 0, 2).config);
}

TEST_F(ResolveTest, WithoutSamplesMediansDecide) {
  const int64_t task = EnsureTask();
  Record without = Timed(900);
  without.samples_ns = {};
  Settle(task, 1, Timed(1000));
  Settle(task, 2, without);
  EXPECT_EQ(Ask().config, ExampleTrial(0, 0, 2).config);
}

TEST_F(ResolveTest, TimesCompareUnderTheNewestConditionsOnly) {
  Record cold = Timed(1500);
  cold.regime = "cold_constants";
  Record elsewhere = Timed(1500);
  elsewhere.device = "another cpu";
  Record rebuilt = Timed(1500);
  rebuilt.toolchain = "llvm 20";
  for (const Record& changed : {cold, elsewhere, rebuilt}) {
    store_ = MakeMemoryStore();
    const int64_t task = EnsureTask();
    Record slower = changed;
    slower.samples_ns = Timed(1600).samples_ns;
    Settle(task, 1, Timed(900));
    Settle(task, 2, changed);
    Settle(task, 3, slower);
    EXPECT_EQ(Ask().config, ExampleTrial(0, 0, 2).config);
    EXPECT_EQ(Ask().best_ns, 1500);
  }
}

TEST_F(ResolveTest, ConfigMeasuredInBothRegimesIsJudgedByTheNewest) {
  const int64_t task = EnsureTask();
  Record cold = Timed(1500);
  cold.regime = "cold_constants";
  Settle(task, 1, Timed(900), 0);
  Settle(task, 1, cold, 1);
  cold.samples_ns = Timed(1400).samples_ns;
  Settle(task, 2, cold);
  EXPECT_EQ(Ask().config, ExampleTrial(0, 0, 2).config);
}

TEST_F(ResolveTest, NewestIsWhatWasMeasuredLastNotWhatWasImportedLast) {
  const int64_t task = EnsureTask();
  Settle(task, 1, Timed(1500));
  Record old = Timed(900);
  old.device = "another cpu";
  old.wall_time_ns -= 1;
  store_->Import(ExampleTrial(task, 0, 2), old).value();
  EXPECT_EQ(Ask().config, ExampleTrial(0, 0, 1).config);
}

// Whatever else was measured under other conditions before, the answer is the same.
TEST_F(ResolveTest, RecordsOfOtherConditionsChangeNothing) {
  Random random(7);
  for (int run = 0; run < 200; ++run) {
    store_ = MakeMemoryStore();
    const int64_t task = EnsureTask();
    int64_t least = 0;
    for (int n = 0; n < 12; ++n) {
      const auto median_ns = static_cast<int64_t>(100 + random.Below(1000));
      Record record = Timed(static_cast<double>(median_ns));
      record.wall_time_ns += n;
      const bool is_newest = n == 11;
      const bool is_cold = !is_newest && random.Below(2) == 0;
      if (is_cold) record.regime = "cold_constants";
      if (!is_cold && (least == 0 || median_ns < least)) least = median_ns;
      Settle(task, n, record);
    }
    EXPECT_EQ(Ask().best_ns, static_cast<double>(least));
  }
}

TEST_F(ResolveTest, FailuresAreNoConfigs) {
  const int64_t task = EnsureTask();
  Record wrong = Timed(1);
  wrong.outcome = Outcome::kWrongOutput;
  Settle(task, 1, wrong);
  EXPECT_EQ(Ask().tier, Tier::kNone);
}

TEST_F(ResolveTest, CompatibleIsAskedLastAndPrefersTuned) {
  const int64_t near = EnsureTask("near");
  const int64_t nearer = EnsureTask("nearer");
  const int64_t far = EnsureTask("far");
  Settle(near, 1, Timed(100));  // ratio 20, but only tuning
  store_->AddFinal(ExampleFinal(nearer, 0)).value();
  store_->AddFinal(ExampleFinal(far, 0)).value();
  const IsCompatible is_compatible = [](const std::string& other) { return other != "far"; };
  EXPECT_EQ(Ask().tier, Tier::kNone);
  const Best best = Ask(is_compatible);
  EXPECT_EQ(best.tier, Tier::kCompatible);
  EXPECT_EQ(Name(best.tier), "compatible");
  EXPECT_EQ(best.target, "nearer");
  Settle(EnsureTask("here"), 5, Timed(4000));
  EXPECT_EQ(Ask(is_compatible).tier, Tier::kTuning) << "the own target's comes first";
}

TEST_F(ResolveTest, CalibrationIsThatOfEachConfigAndNoTier) {
  const auto calibration = [&] {
    return CalibrationOf(*store_, ExampleTask().workload_digest, kSignature, "here").value();
  };
  EXPECT_TRUE(calibration().empty());
  const int64_t task = EnsureTask();
  Settle(task, 1, Beside(50, 100), 0, Purpose::kCalibrate);
  Settle(task, 2, Beside(100, 300), 0, Purpose::kCalibrate);  // a slow moment of the machine
  Settle(task, 5, Beside(0, 10), 0, Purpose::kCalibrate);     // without an anchor: does not compare
  Record failed;
  failed.outcome = Outcome::kCrash;
  Settle(task, 3, failed, 0, Purpose::kCalibrate);
  Settle(task, 4, Timed(10));  // a search's
  const std::vector<ConfigCost> costs = calibration();
  ASSERT_EQ(costs.size(), 4u);
  EXPECT_EQ(costs[0].cost, 0) << "it was not built";
  EXPECT_EQ(costs[1].config, ExampleTrial(task, 0, 1).config);
  EXPECT_EQ(costs[1].cost, 100);
  EXPECT_EQ(costs[2].cost, 150) << "three times the least of the anchor";
  EXPECT_EQ(Ask().config, ExampleTrial(task, 0, 4).config);
}

TEST_F(ResolveTest, CalibrationKeepsToolchainsApartTheNewestLast) {
  const int64_t task = EnsureTask();
  Record newer = Beside(100, 300);
  newer.toolchain = "llvm 20";
  newer.wall_time_ns += 1;
  Record failed;
  failed.outcome = Outcome::kBuildError;
  failed.toolchain = newer.toolchain;
  Record cancelled;
  cancelled.outcome = Outcome::kCancelled;
  Settle(task, 1, Beside(100, 100), 0, Purpose::kCalibrate);
  Settle(task, 2, Beside(100, 200), 0, Purpose::kCalibrate);
  Settle(task, 1, newer, 1, Purpose::kCalibrate);
  Settle(task, 3, failed, 0, Purpose::kCalibrate);
  Settle(task, 4, cancelled, 0, Purpose::kCalibrate);
  const std::vector<ConfigCost> costs =
      CalibrationOf(*store_, ExampleTask().workload_digest, kSignature, "here").value();
  std::vector<std::tuple<std::string, std::string, double>> found;
  for (const ConfigCost& cost : costs) {
    found.emplace_back(cost.toolchain, cost.config, cost.cost);
  }
  const auto config = [](int n) { return ExampleTrial(0, 0, n).config; };
  EXPECT_THAT(found, testing::ElementsAre(testing::FieldsAre("llvm 19.1.7", config(1), 100),
                                          testing::FieldsAre("llvm 19.1.7", config(2), 200),
                                          testing::FieldsAre("llvm 20", config(1), 300),
                                          testing::FieldsAre("llvm 20", config(3), 0)));
}

}  // namespace
}  // namespace hone::tuning_db
