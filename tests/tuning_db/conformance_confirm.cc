// Confirm trials, which settle together with their finals.
#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/prune.h"
#include "tuning_db/resolve.h"

namespace hone::tuning_db {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// A leased confirm trial of a job.
class Confirm {
 public:
  explicit Confirm(Store& store) : store_(store) {
    task = store.EnsureTask(ExampleTask()).value();
    job = store.SubmitJob(ExampleJob(task)).value().id;
    Trial wanted = ExampleTrial(task, job);
    wanted.purpose = Purpose::kConfirm;
    trial = store.Propose({wanted}).value().at(0).id;
    fence = store.Lease(trial, "w").value().fence;
  }
  absl::StatusOr<SettleResult> Settle(int64_t under, const Final& final) {
    return store_.SettleFinal(under, ExampleRecord(trial), final);
  }
  void ExpectNothingWritten() {
    EXPECT_FALSE(store_.NewestFinal(task, kSignature).value().has_value());
    EXPECT_THAT(store_.Records({}).value(), IsEmpty());
    EXPECT_THAT(store_.ListEvents(job, 0, 0).value(), IsEmpty());
    EXPECT_EQ(store_.OpenTrials(0).value().at(0).state, TrialState::kLeased);
  }

  int64_t task = 0;
  int64_t job = 0;
  int64_t trial = 0;
  int64_t fence = 0;

 private:
  Store& store_;
};

TEST_P(Conformance, ConfirmTrialSettlesTogetherWithItsFinal) {
  Confirm confirm(*store_);
  EXPECT_EQ(confirm.Settle(confirm.fence, ExampleFinal(confirm.task, confirm.job)).value(),
            SettleResult::kSettled);
  Reopen();
  EXPECT_EQ(store_->NewestFinal(confirm.task, kSignature).value().value().id, 1);
  EXPECT_EQ(store_->Records({}).value().at(0).of_trial.state, TrialState::kSettled);
  const auto events = store_->ListEvents(confirm.job, 0, 0).value();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].kind, "trial_settled");
  EXPECT_EQ(events[1].kind, "final");
}

TEST_P(Conformance, ConfirmTrialSettledTwiceAddsOneFinal) {
  Confirm confirm(*store_);
  ASSERT_TRUE(confirm.Settle(confirm.fence, ExampleFinal(confirm.task, confirm.job)).ok());
  EXPECT_EQ(confirm.Settle(confirm.fence, ExampleFinal(confirm.task, confirm.job)).value(),
            SettleResult::kDuplicate);
  EXPECT_THAT(store_->ListEvents(confirm.job, 0, 0).value(), SizeIs(2));
  EXPECT_EQ(store_->AddFinal(ExampleFinal(confirm.task, 0)).value(), 2)
      << "the second of all finals";
  EXPECT_THAT(store_->Records({}).value(), SizeIs(1));
}

TEST_P(Conformance, ConfirmTrialUnderAForeignFenceAddsNoFinal) {
  Confirm confirm(*store_);
  EXPECT_EQ(confirm.Settle(confirm.fence + 1, ExampleFinal(confirm.task, confirm.job)).value(),
            SettleResult::kRefused);
  confirm.ExpectNothingWritten();
}

TEST_P(Conformance, ConfirmTrialRefusesAFinalThatIsNotItsOwn) {
  Confirm confirm(*store_);
  const int64_t other = store_->EnsureTask(ExampleTask(1)).value();
  Final of_other_signature = ExampleFinal(confirm.task, confirm.job);
  of_other_signature.signature = "NC->NC";
  Final without_winner = ExampleFinal(confirm.task, confirm.job);
  without_winner.winner = 9;
  for (const Final& final :
       {ExampleFinal(other, confirm.job), of_other_signature, without_winner}) {
    EXPECT_TRUE(absl::IsInvalidArgument(confirm.Settle(confirm.fence, final).status()));
  }
  EXPECT_TRUE(
      absl::IsNotFound(confirm.Settle(confirm.fence, ExampleFinal(confirm.task, 99)).status()));
  Record failure = ExampleRecord(confirm.trial);
  failure.outcome = Outcome::kRunTimeout;
  EXPECT_TRUE(absl::IsInvalidArgument(
      store_->SettleFinal(confirm.fence, failure, ExampleFinal(confirm.task, confirm.job))
          .status()));
  confirm.ExpectNothingWritten();
}

TEST_P(Conformance, SearchTrialsSettleNoFinal) {
  Confirm confirm(*store_);
  const int64_t search =
      store_->Propose({ExampleTrial(confirm.task, confirm.job)}).value().at(0).id;
  const int64_t fence = store_->Lease(search, "w").value().fence;
  EXPECT_TRUE(absl::IsInvalidArgument(
      store_->SettleFinal(fence, ExampleRecord(search), ExampleFinal(confirm.task, confirm.job))
          .status()));
  confirm.ExpectNothingWritten();
}

// A confirm trial of the task, settled with a final that its second candidate wins by `ratio`. The
// record's id.
int64_t SettleFinal(Store& store, int64_t task, int64_t job, int64_t round, double ratio) {
  Trial wanted = ExampleTrial(task, job);
  wanted.purpose = Purpose::kConfirm;
  wanted.round = round;
  const int64_t trial = store.Propose({wanted}).value().at(0).id;
  Final final = ExampleFinal(task, job);
  final.entries[1].ratio_to_default = ratio;
  EXPECT_TRUE(
      store.SettleFinal(store.Lease(trial, "w").value().fence, ExampleRecord(trial), final).ok());
  return store.Records({.purpose = Purpose::kConfirm}).value().back().id;
}

// What the newest final says, wherever it is asked for. 0: there is none.
std::vector<double> RatiosOf(Store& store, int64_t task, int64_t job) {
  const auto newest = store.NewestFinal(task, kSignature).value();
  const std::vector<TaskFinal> all = store.Finals({}).value();
  const TaskProgress progress = store.Progress(job).value().at(0);
  const double winner_ns = progress.final ? progress.final->winner_ns : 0;
  return {newest ? newest->entries[1].ratio_to_default : 0,
          all.empty() ? 0 : all.at(0).final.entries[1].ratio_to_default,
          winner_ns > 0 ? ExampleFinal(task, job).entries[0].median_ns / winner_ns : 0};
}

TEST_P(Conformance, WhatWasWonInARetractedMeasurementIsWonNoMore) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const int64_t search = SettleOne(*store_, ExampleTrial(task, job, 5)).id;
  const int64_t first = SettleFinal(*store_, task, job, 0, 2);
  const int64_t second = SettleFinal(*store_, task, job, 1, 4);
  EXPECT_EQ(store_->NewestFinal(task, kSignature).value()->record, second);
  EXPECT_THAT(RatiosOf(*store_, task, job), testing::Each(4));

  ASSERT_TRUE(store_->Retract(second, "the device lies").ok());
  Reopen();
  EXPECT_EQ(store_->NewestFinal(task, kSignature).value()->record, first);
  EXPECT_THAT(RatiosOf(*store_, task, job), testing::Each(2));
  EXPECT_EQ(BestOf(*store_, store_->GetTask(task).value(), kSignature)->ratio, 2);

  ASSERT_TRUE(store_->Retract(first, "the device lies").ok());
  EXPECT_THAT(RatiosOf(*store_, task, job), testing::Each(0));
  const Best best = BestOf(*store_, store_->GetTask(task).value(), kSignature).value();
  EXPECT_EQ(best.tier, Tier::kTuning);
  EXPECT_EQ(best.config, ExampleTrial(task, job, 5).config) << "the trial " << search;
}

TEST_P(Conformance, AFinalNamesARecordThatItMayComeOf) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t other = store_->EnsureTask(ExampleTask(1)).value();
  SettleOne(*store_, ExampleTrial(task, 0, 5));
  const int64_t search = store_->Records({}).value().back().id;
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const int64_t confirm = SettleFinal(*store_, task, job, 0, 2);
  Final final = ExampleFinal(task, 0);
  for (const int64_t record : {search, int64_t{99}}) {
    final.record = record;
    EXPECT_TRUE(absl::IsNotFound(store_->AddFinal(final).status())) << record;
  }
  final.record = confirm;
  EXPECT_TRUE(store_->AddFinal(final).ok());
  final.task = other;
  EXPECT_TRUE(absl::IsNotFound(store_->AddFinal(final).status()));
}

// Once it counts for nothing, the best config is found from the samples again.
TEST_P(Conformance, ARetractedFinalMakesNoSamplesSpare) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  SettleOne(*store_, ExampleTrial(task, job, 5));
  const int64_t confirm = SettleFinal(*store_, task, job, 0, 2);
  ASSERT_TRUE(store_->SetJobState(job, JobState::kDone, "").ok());
  ASSERT_TRUE(store_->Retract(confirm, "the device lies").ok());
  EXPECT_EQ(PruneAll(*store_, INT64_MAX)->samples, 0);
}

}  // namespace
}  // namespace hone::tuning_db
