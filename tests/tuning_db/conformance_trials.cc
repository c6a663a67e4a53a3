// Trials from their proposal to their end.
#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(Conformance, ProposeKeepsKnownTrialsAsTheyAre) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const int64_t known = SettleOne(*store_, ExampleTrial(task, job, 1)).id;
  Trial next_round = ExampleTrial(task, job, 1);
  next_round.round = 1;
  Trial confirm = ExampleTrial(task, job, 1);
  confirm.purpose = Purpose::kConfirm;
  Trial other_signature = ExampleTrial(task, job, 1);
  other_signature.signature = "NCHW->NCHW";
  const auto rows = store_
                        ->Propose({ExampleTrial(task, 0, 2), ExampleTrial(task, 0, 1), next_round,
                                   confirm, other_signature, ExampleTrial(task, 0, 2)})
                        .value();
  ASSERT_THAT(rows, SizeIs(6));
  EXPECT_EQ(rows[1].id, known);
  EXPECT_EQ(rows[1].state, TrialState::kSettled);
  EXPECT_EQ(rows[1].job, job);
  EXPECT_EQ(rows[5].id, rows[0].id) << "twice in one call is one trial";
  EXPECT_EQ(rows[0].config, ExampleTrial(0, 0, 2).config);
  EXPECT_EQ(rows[0].nest_digest, ExampleTrial(0, 0, 2).nest_digest);
  EXPECT_EQ(rows[2].round, 1);
  EXPECT_EQ(store_->CountTrials(task, kSignature, Purpose::kSearch).value(), 3);
  EXPECT_EQ(store_->CountTrials(task, kSignature, Purpose::kConfirm).value(), 1);
  EXPECT_EQ(store_->CountTrials(task, "NCHW->NCHW", Purpose::kSearch).value(), 1);
}

TEST_P(Conformance, ProposeIsAllOrNothing) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  EXPECT_FALSE(store_->Propose({ExampleTrial(task, 0), ExampleTrial(task + 1, 0)}).ok());
  EXPECT_FALSE(store_->Propose({ExampleTrial(task, 0), ExampleTrial(task, 99, 1)}).ok());
  EXPECT_EQ(store_->CountTrials(task, kSignature, Purpose::kSearch).value(), 0);
}

TEST_P(Conformance, ProposedTrialIgnoresStateOfItsArgument) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Trial trial = ExampleTrial(task, 0);
  trial.state = TrialState::kSettled;
  trial.fence = 99;
  trial.attempt = 5;
  trial.worker = "somebody";
  const Trial row = store_->Propose({trial}).value().at(0);
  EXPECT_EQ(row.state, TrialState::kProposed);
  EXPECT_EQ(row.fence, 0);
  EXPECT_EQ(row.attempt, 0);
  EXPECT_EQ(row.worker, "");
}

TEST_P(Conformance, FencesOnlyGrowAlsoAcrossReopening) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto trials = store_->Propose({ExampleTrial(task, 0, 1), ExampleTrial(task, 0, 2)}).value();
  const Trial first = store_->Lease(trials[0].id, "w1").value();
  const Trial second = store_->Lease(trials[0].id, "w2").value();
  EXPECT_EQ(first.attempt, 1);
  EXPECT_EQ(second.attempt, 2);
  EXPECT_EQ(second.worker, "w2");
  EXPECT_EQ(second.state, TrialState::kLeased);
  EXPECT_GT(second.fence, first.fence);
  Reopen();
  EXPECT_GT(store_->Lease(trials[1].id, "w1").value().fence, second.fence);
}

TEST_P(Conformance, ResultUnderAnOldFenceIsRefused) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t trial = store_->Propose({ExampleTrial(task, 0)}).value().at(0).id;
  EXPECT_EQ(store_->Settle(0, ExampleRecord(trial)).value(), SettleResult::kRefused);
  const int64_t old_fence = store_->Lease(trial, "w1").value().fence;
  const int64_t new_fence = store_->Lease(trial, "w2").value().fence;
  EXPECT_EQ(store_->Settle(old_fence, ExampleRecord(trial)).value(), SettleResult::kRefused);
  EXPECT_EQ(store_->Settle(new_fence + 5, ExampleRecord(trial)).value(), SettleResult::kRefused);
  EXPECT_THAT(store_->Records({}).value(), IsEmpty());
  EXPECT_EQ(store_->Settle(new_fence, ExampleRecord(trial)).value(), SettleResult::kSettled);
  Reopen();
  EXPECT_EQ(store_->Settle(new_fence, ExampleRecord(trial)).value(), SettleResult::kDuplicate);
  EXPECT_EQ(store_->Settle(old_fence, ExampleRecord(trial)).value(), SettleResult::kRefused);
  EXPECT_THAT(store_->Records({}).value(), SizeIs(1));
}

TEST_P(Conformance, ReleasedTrialIsOpenAndItsOldFenceIsDead) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t trial = store_->Propose({ExampleTrial(task, 0)}).value().at(0).id;
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->Release(trial, 0)));
  const int64_t old_fence = store_->Lease(trial, "w1").value().fence;
  const int64_t fence = store_->Lease(trial, "w1").value().fence;
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->Release(trial, old_fence)));
  EXPECT_TRUE(store_->Release(trial, fence).ok());
  EXPECT_TRUE(store_->Release(trial, fence).ok()) << "a repeated release is harmless";
  EXPECT_EQ(store_->Settle(fence, ExampleRecord(trial)).value(), SettleResult::kRefused);
  const auto open = store_->OpenTrials(0).value();
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].state, TrialState::kProposed);
  EXPECT_EQ(open[0].attempt, 2) << "attempts are counted over all leases";
}

TEST_P(Conformance, SettledTrialIsNeitherLeasedNorReleased) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Trial trial = SettleOne(*store_, ExampleTrial(task, 0));
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->Lease(trial.id, "w").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->Release(trial.id, trial.fence)));
  EXPECT_THAT(store_->OpenTrials(0).value(), IsEmpty());
}

TEST_P(Conformance, OpenTrialsAreProposedOrLeasedOnesOfTheJob) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t a = store_->SubmitJob(ExampleJob(task, "a")).value().id;
  const int64_t b = store_->SubmitJob(ExampleJob(task, "b")).value().id;
  const auto rows = store_
                        ->Propose({ExampleTrial(task, a, 1), ExampleTrial(task, b, 2),
                                   ExampleTrial(task, a, 3), ExampleTrial(task, 0, 4)})
                        .value();
  store_->Lease(rows[2].id, "w").value();
  SettleOne(*store_, ExampleTrial(task, a, 5));
  EXPECT_THAT(Ids(store_->OpenTrials(a).value()), ElementsAre(rows[0].id, rows[2].id));
  EXPECT_THAT(Ids(store_->OpenTrials(b).value()), ElementsAre(rows[1].id));
  EXPECT_THAT(store_->OpenTrials(0).value(), SizeIs(4));
}

}  // namespace
}  // namespace hone::tuning_db
