// Confirm trials, which settle together with their finals.
#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"

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

}  // namespace
}  // namespace hone::tuning_db
