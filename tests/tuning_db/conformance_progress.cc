// How far jobs have come, and who is told.
#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void Fail(Store& store, const Trial& wanted, Outcome outcome) {
  const int64_t trial = store.Propose({wanted}).value().at(0).id;
  Record record = ExampleRecord(trial, 0);
  record.outcome = outcome;
  record.samples_ns.clear();
  EXPECT_TRUE(store.Settle(store.Lease(trial, "w").value().fence, record).ok());
}

std::vector<std::string> Kinds(Store& store, int64_t job) {
  std::vector<std::string> kinds;
  const std::vector<Event> events = store.ListEvents(job, 0, 0).value();
  for (const Event& event : events) kinds.push_back(event.kind);
  return kinds;
}

TEST_P(Conformance, ProgressOfASharedTaskIsSeenByBothJobs) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t untouched = store_->EnsureTask(ExampleTask(1)).value();
  Job wanted = ExampleJob(task, "a");
  wanted.tasks.push_back({untouched, kSignature, "conv2", 1, 64});
  const int64_t a = store_->SubmitJob(wanted).value().id;
  const int64_t b = store_->SubmitJob(ExampleJob(task, "b")).value().id;
  const auto rows = store_->Propose({ExampleTrial(task, a, 1), ExampleTrial(task, b, 2)}).value();
  SettleOne(*store_, rows[1], 700);
  SettleOne(*store_, rows[0], 1000);  // the first trial settles last
  Fail(*store_, ExampleTrial(task, b, 3), Outcome::kCrash);
  Fail(*store_, ExampleTrial(task, b, 4), Outcome::kCancelled);
  Trial confirm = ExampleTrial(task, a, 5);
  confirm.purpose = Purpose::kConfirm;
  SettleOne(*store_, confirm, 10);
  Trial elsewhere = ExampleTrial(task, a, 6);
  elsewhere.signature = "NC->NC";
  SettleOne(*store_, elsewhere, 10);
  Reopen();
  const auto of_a = store_->Progress(a).value();
  ASSERT_THAT(of_a, SizeIs(2));
  EXPECT_EQ(of_a[0].task, task);
  EXPECT_EQ(of_a[0].signature, kSignature);
  EXPECT_EQ(of_a[0].workload_digest, ExampleTask().workload_digest);
  EXPECT_EQ(of_a[0].trials, 3);
  EXPECT_EQ(of_a[0].job_trials, 1);
  EXPECT_EQ(of_a[0].job_failures, 0);
  EXPECT_EQ(of_a[0].default_ns, 1000);
  EXPECT_EQ(of_a[0].best_ns, 700);
  EXPECT_FALSE(of_a[0].final.has_value());
  EXPECT_EQ(of_a[1].task, untouched);
  EXPECT_EQ(of_a[1].trials, 0);
  EXPECT_EQ(of_a[1].best_ns, 0);
  const TaskProgress of_b = store_->Progress(b).value().at(0);
  EXPECT_EQ(of_b.trials, 3);
  EXPECT_EQ(of_b.job_trials, 2);
  EXPECT_EQ(of_b.job_failures, 1);
  EXPECT_TRUE(absl::IsNotFound(store_->Progress(99).status()));
}

TEST_P(Conformance, ProgressOfAJobStaysWhatItWasWhenItEnded) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t ended = store_->SubmitJob(ExampleJob(task, "ended")).value().id;
  const int64_t later = store_->SubmitJob(ExampleJob(task, "later")).value().id;
  const auto settle = [&](int64_t job, int n, double median_ns) {
    const Trial trial = store_->Propose({ExampleTrial(task, job, n)}).value().at(0);
    Record record = ExampleRecord(trial.id);
    record.median_ns = median_ns;
    store_->Settle(store_->Lease(trial.id, "w").value().fence, record).value();
  };
  settle(ended, 0, 1234.56789);
  ASSERT_TRUE(store_->SetJobState(ended, JobState::kRunning, "").ok());
  ASSERT_TRUE(store_->AddFinal(ExampleFinal(task, ended)).ok());
  const TaskProgress before = store_->Progress(ended).value().at(0);
  ASSERT_TRUE(store_->SetJobState(ended, JobState::kDone, "").ok());
  settle(later, 1, 1.0);
  ASSERT_TRUE(store_->AddFinal(ExampleFinal(task, later)).ok());
  Reopen();
  const TaskProgress after = store_->Progress(ended).value().at(0);
  EXPECT_EQ(after.trials, before.trials);
  EXPECT_EQ(after.job_trials, 1);
  EXPECT_EQ(after.default_ns, before.default_ns);
  EXPECT_EQ(after.best_ns, before.best_ns) << "to the last bit";
  EXPECT_EQ(after.workload_digest, before.workload_digest);
  EXPECT_EQ(after.signature, before.signature);
  ASSERT_TRUE(before.final && after.final);
  EXPECT_EQ(after.final->winner_ns, before.final->winner_ns);
  EXPECT_EQ(after.final->distinct_trials, before.final->distinct_trials);
  const auto both = store_->ProgressOfJobs({later, ended}).value();
  EXPECT_EQ(both.at(0).at(0).trials, 2);
  EXPECT_EQ(both.at(1).at(0).trials, 1);
}

TEST_P(Conformance, ProgressTellsTheNewestFinal) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  store_->AddFinal(ExampleFinal(task, job, 10)).value();
  Final newest = ExampleFinal(task, 0, 64);
  newest.ended_share = 0.25;
  store_->AddFinal(newest).value();
  const auto final = store_->Progress(job).value().at(0).final;
  ASSERT_TRUE(final.has_value());
  EXPECT_EQ(final->distinct_trials, 64);
  EXPECT_EQ(final->space_size, 5000);
  EXPECT_EQ(final->ended_share, 0.25);
  EXPECT_EQ(final->default_ns, 2005);
  EXPECT_EQ(final->winner_ns, WinnerNs(newest));
}

TEST_P(Conformance, EveryJobThatWantsTheTaskIsTold) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t other = store_->EnsureTask(ExampleTask(1)).value();
  const int64_t a = store_->SubmitJob(ExampleJob(task, "a")).value().id;
  const int64_t b = store_->SubmitJob(ExampleJob(task, "b")).value().id;
  const int64_t bystander = store_->SubmitJob(ExampleJob(other, "c")).value().id;
  SettleOne(*store_, ExampleTrial(task, a, 1));
  store_->AddFinal(ExampleFinal(task, a)).value();
  Reopen();
  EXPECT_THAT(Kinds(*store_, a), ElementsAre("trial_settled", "final"));
  EXPECT_THAT(Kinds(*store_, b), ElementsAre("trial_settled", "final"));
  EXPECT_THAT(Kinds(*store_, bystander), IsEmpty());
  EXPECT_EQ(store_->ListEvents(a, 0, 0)->at(0).payload, store_->ListEvents(b, 0, 0)->at(0).payload);
  EXPECT_THAT(store_->ListEvents(b, 0, 0)->at(0).payload, HasSubstr(R"("purpose":"search")"));
}

TEST_P(Conformance, TheEventThatEndsAJobIsItsLast) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const int64_t trial = store_->Propose({ExampleTrial(task, job)}).value().at(0).id;
  const int64_t fence = store_->Lease(trial, "w").value().fence;
  ASSERT_TRUE(store_->SetJobState(job, JobState::kCancelled, "by hand").ok());
  EXPECT_EQ(store_->Settle(fence, ExampleRecord(trial)).value(), SettleResult::kSettled);
  store_->AddFinal(ExampleFinal(task, job)).value();
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->AppendEvent(job, "waiting", "{}").status()));
  EXPECT_THAT(Kinds(*store_, job), ElementsAre("state"));
}

}  // namespace
}  // namespace hone::tuning_db
