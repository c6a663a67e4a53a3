// Who takes part in a final, and who wins it.
#include "tuner/jobs/final_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/tuner/fakes.h"

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

// A config of knobs k0, k1, ... as they are given.
schedule::Config Bits(const std::string& bits) {
  schedule::Config config;
  for (size_t i = 0; i < bits.size(); ++i) {
    config.Set("k" + std::to_string(i), int64_t{bits[i] - '0'});
  }
  return config;
}

// A store with the search trial of `config`, and a final that it won.
std::unique_ptr<tuning_db::Store> StoreWonBy(const schedule::Config& config,
                                             const std::string& nest_digest) {
  auto store = tuning_db::MakeMemoryStore();
  tuning_db::Trial trial;
  trial.task = store
                   ->EnsureTask({.workload = "conv",
                                 .workload_digest = "w",
                                 .anchor_digest = "a",
                                 .target = kFakeTarget})
                   .value();
  trial.signature = "NC->NC";
  trial.config = config.ToText();
  trial.config_digest = config.Digest();
  trial.nest_digest = nest_digest;
  tuning_db::Job job;
  job.client_id = "job";
  job.target = kFakeTarget;
  tuning_db::JobTask& wanted = job.tasks.emplace_back();
  wanted.task = trial.task;
  wanted.signature = trial.signature;
  wanted.trials = 1;
  trial.job = store->SubmitJob(job).value().id;
  tuning_db::Record record;
  record.samples_ns = {100};
  record.median_ns = 100;
  EXPECT_EQ(store->Import(trial, record).value(), tuning_db::SettleResult::kSettled);
  tuning_db::Final final;
  final.task = trial.task;
  final.signature = trial.signature;
  final.job = trial.job;
  tuning_db::FinalEntry& winner = final.entries.emplace_back();
  winner.config = trial.config;
  winner.nest_digest = nest_digest;
  winner.round_ns = {100};
  EXPECT_TRUE(store->AddFinal(final).ok());
  return store;
}

TEST(ChooseFinalists, KeepConfigsOfBeforeAKnobExisted) {
  const auto context = FakeLowerer().Open("conv", "NC->NC", kFakeTarget).value();
  const schedule::Config today = Bits("101100000");
  const auto lowered = context->Lower(today);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const auto store = StoreWonBy(Bits("10110000"), lowered->nest_digest);
  TaskHistory history(1, "NC->NC");
  history.ReadIn(&context->space());
  ASSERT_TRUE(history.Load(*store).ok());
  ASSERT_EQ(history.count(), 1);
  EXPECT_EQ(history.StateAt(1).settled.at(0).config.ToText(), today.ToText());
  for (const int top : {0, 1}) {  // as the incumbent alone, and as a trial too
    const auto finalists = ChooseFinalists(*context, history, top);
    ASSERT_TRUE(finalists.ok()) << finalists.status();
    ASSERT_EQ(finalists->size(), 2u);
    EXPECT_EQ(finalists->at(1).config.ToText(), today.ToText());
  }
}

// After a release in which the fastest config is another nest: what is slower than it was must not
// lose to a time that nobody can have any more.
TEST(ChooseFinalists, AreNotBeatenByAConfigThatNoLongerTakesPart) {
  const auto context = FakeLowerer().Open("conv", "NC->NC", kFakeTarget).value();
  const auto store = StoreWonBy(Bits("101100000"), "the nest of an older release");
  const schedule::Config slower = Bits("110000000");
  tuning_db::Trial trial;
  trial.task = 1;
  trial.signature = "NC->NC";
  trial.config = slower.ToText();
  trial.config_digest = slower.Digest();
  trial.nest_digest = context->Lower(slower)->nest_digest;
  tuning_db::Record record;
  record.samples_ns = {200};  // twice the stale one's
  record.median_ns = 200;
  ASSERT_TRUE(store->Import(trial, record).ok());
  TaskHistory history(1, "NC->NC");
  history.ReadIn(&context->space());
  ASSERT_TRUE(history.Load(*store).ok());
  const auto finalists = ChooseFinalists(*context, history, 4);
  ASSERT_TRUE(finalists.ok()) << finalists.status();
  ASSERT_EQ(finalists->size(), 2u);
  EXPECT_EQ(finalists->at(1).config, slower);
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
  // Wins two rounds of three: as likely as not by luck.
  hone::v1::MeasureResult noisy;
  Add(noisy, {100, 103, 130});
  Add(noisy, {99, 104, 104});
  EXPECT_EQ(JudgeFinal({}, Entries(2), noisy, 3)->winner, 0);
}

TEST(JudgeFinal, TakesNobodyWhoIsFasterInHalfOfTheRounds) {
  hone::v1::MeasureResult result;
  Add(result, {100, 100, 100, 100, 100, 100, 100, 100});
  Add(result, {80, 80, 80, 80, 80, 101, 101, 101});  // the greatest median, in five of eight
  Add(result, {98, 98, 98, 98, 98, 98, 101, 101});   // six of eight
  EXPECT_EQ(JudgeFinal({}, Entries(3), result, 8)->winner, 2);
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
