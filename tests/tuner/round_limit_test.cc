#include "tuner/jobs/round_limit.h"

#include <gtest/gtest.h>

#include "support/clock.h"

namespace hone::tuner {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

hone::v1::TimingPlan Plan() {
  hone::v1::TimingPlan plan;
  plan.set_chunk_ns(kMillisecond);
  plan.set_warmup_ns(kMillisecond);
  plan.set_max_chunks(10);
  return plan;
}

TEST(RoundLimit, CountsWhatARoundTakesFourTimesAndATenthOfATrialToStart) {
  // Runs of 2 ms: the warm-up is one, and so are the check and each chunk.
  EXPECT_EQ(RoundsLimitNs(Plan(), 5, 10 * kSecondNs, 2e6),
            10 * kSecondNs + 5 * (kSecondNs + 4 * 24 * kMillisecond));
  // Runs of 1 us fill a chunk and the warm-up.
  EXPECT_EQ(RoundsLimitNs(Plan(), 5, 10 * kSecondNs, 1e3),
            10 * kSecondNs + 5 * (kSecondNs + 4 * (11 * kMillisecond + 1000)));
}

TEST(RoundLimit, IsThatOfATrialARoundAtMostAndWhereNothingIsKnown) {
  EXPECT_EQ(RoundsLimitNs(Plan(), 11, 10 * kSecondNs, 1e9), 110 * kSecondNs);
  EXPECT_EQ(RoundsLimitNs(Plan(), 11, 10 * kSecondNs, 1e300), 110 * kSecondNs);
  EXPECT_EQ(RoundsLimitNs(Plan(), 11, 10 * kSecondNs, 0), 110 * kSecondNs);
}

PlannedTrial WithNest(const std::string& digest) {
  PlannedTrial candidate;
  candidate.nest_digest = digest;
  return candidate;
}

TEST(RoundLimit, TheSlowestCandidateCountsAndEachHasToBeKnown) {
  TaskHistory history(1, "NC->NC");
  const auto settle = [&](int64_t id, const std::string& nest, double median_ns) {
    tuning_db::Record record;
    record.trial = id;
    record.median_ns = median_ns;
    record.outcome = median_ns > 0 ? tuning_db::Outcome::kOk : tuning_db::Outcome::kCrash;
    record.of_trial.id = id;
    record.of_trial.config = "{}";
    record.of_trial.nest_digest = nest;
    history.Proposed(record.of_trial);
    history.Settled(record);
  };
  settle(1, "fast", 10);
  settle(2, "slow", 50);
  settle(3, "failed", 0);
  EXPECT_EQ(SlowestRunNs({WithNest("fast"), WithNest("slow")}, history), 50);
  EXPECT_EQ(SlowestRunNs({WithNest("fast"), WithNest("failed")}, history), 0);
  EXPECT_EQ(SlowestRunNs({WithNest("fast"), WithNest("new")}, history), 0);
}

}  // namespace
}  // namespace hone::tuner
