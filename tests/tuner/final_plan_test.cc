// Who wins a final.
#include "tuner/jobs/final_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace hone::tuner {
namespace {

using ::testing::HasSubstr;

void Add(hone::v1::MeasureResult& result, std::vector<double> rounds) {
  hone::v1::CandidateResult& candidate = *result.add_candidates();
  candidate.set_outcome(hone::v1::MEASURE_OUTCOME_OK);
  for (const double ns : rounds) candidate.add_samples_ns(ns);
}

std::vector<tuning_db::FinalEntry> Entries(int n) {
  std::vector<tuning_db::FinalEntry> entries(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) entries[static_cast<size_t>(i)].config = std::to_string(i);
  return entries;
}

TEST(JudgeFinal, TakesTheBestPairedRatioNotTheBestSingleFigure) {
  hone::v1::MeasureResult result;
  Add(result, {100, 200, 100});
  Add(result, {90, 90, 98});   // has the least figure, in a noisy round
  Add(result, {80, 160, 80});  // is always a fifth faster
  const auto final = JudgeFinal({}, Entries(3), result, 3);
  ASSERT_TRUE(final.ok());
  EXPECT_EQ(final->winner, 2);
  EXPECT_DOUBLE_EQ(final->entries[2].ratio_to_default, 1.25);
}

TEST(JudgeFinal, NeverPicksWhatIsSlowerThanTheDefault) {
  hone::v1::MeasureResult result;
  Add(result, {100, 110, 90});
  Add(result, {101, 112, 91});
  EXPECT_EQ(JudgeFinal({}, Entries(2), result, 3)->winner, 0);
  // Wins two rounds, but not in its median.
  hone::v1::MeasureResult noisy;
  Add(noisy, {100, 103, 130});
  Add(noisy, {99, 104, 104});
  EXPECT_EQ(JudgeFinal({}, Entries(2), noisy, 3)->winner, 0);
}

TEST(JudgeFinal, LeavesOutEntriesThatFailButNotTheDefault) {
  hone::v1::MeasureResult result;
  Add(result, {100, 100, 100});
  Add(result, {10, 10});  // a round is missing
  Add(result, {90, 90, 90});
  const auto final = JudgeFinal({}, Entries(3), result, 3);
  ASSERT_TRUE(final.ok());
  ASSERT_EQ(final->entries.size(), 2u);
  EXPECT_EQ(final->entries[static_cast<size_t>(final->winner)].config, "2");
  result.mutable_candidates(0)->set_outcome(hone::v1::MEASURE_OUTCOME_CRASH);
  const auto failed = JudgeFinal({}, Entries(3), result, 3);
  EXPECT_THAT(std::string(failed.status().message()), HasSubstr("default config failed its final"));
}

TEST(JudgeFinal, ComparesOverTheRoundsThatAllEntriesHave) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  hone::v1::MeasureResult result;
  Add(result, {100, 100, 100, 100, none});
  Add(result, {none, 90, 90, 90, 90});
  EXPECT_TRUE(MissesRounds(result, 5));
  const auto final = JudgeFinal({}, Entries(2), result, 5);
  ASSERT_TRUE(final.ok()) << final.status();
  EXPECT_EQ(final->entries[0].round_ns, std::vector<double>(3, 100));
  EXPECT_EQ(final->entries[1].round_ns, std::vector<double>(3, 90));
  result.mutable_candidates(1)->set_samples_ns(2, none);
  const auto failed = JudgeFinal({}, Entries(2), result, 5);
  EXPECT_THAT(std::string(failed.status().message()), HasSubstr("2 of 5 rounds"));
}

}  // namespace
}  // namespace hone::tuner
