// Jobs that are ended where no daemon works on them.
#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"
#include "tuning_db/end_jobs.h"

namespace hone::tuning_db {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Job PrivateJob(int64_t task, const std::string& client_id) {
  Job job = ExampleJob(task, client_id);
  job.is_private = true;
  return job;
}

TEST_P(Conformance, EndedJobLeavesNoOpenTrials) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  SettleOne(*store_, ExampleTrial(task, job, 0));
  const int64_t proposed = store_->Propose({ExampleTrial(task, job, 1)}).value().at(0).id;
  const int64_t leased = store_->Propose({ExampleTrial(task, job, 2)}).value().at(0).id;
  const int64_t fence = store_->Lease(leased, "w").value().fence;
  ASSERT_TRUE(EndJob(*store_, job, "by hand").ok());
  Reopen();
  EXPECT_EQ(store_->GetJob(job)->state, JobState::kCancelled);
  EXPECT_EQ(store_->GetJob(job)->message, "by hand");
  EXPECT_THAT(store_->OpenTrials(0).value(), IsEmpty());
  const std::vector<Record> records = store_->Records({}).value();
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[0].outcome, Outcome::kOk) << "what was settled stays";
  EXPECT_EQ(records[1].trial, proposed);
  for (size_t i : {1, 2}) EXPECT_EQ(records[i].outcome, Outcome::kCancelled);
  EXPECT_EQ(store_->Settle(fence, ExampleRecord(leased)).value(), SettleResult::kRefused)
      << "a late result changes nothing";
}

TEST_P(Conformance, EndedJobLeavesTheTrialsThatAnotherWants) {
  const int64_t both = store_->EnsureTask(ExampleTask(0)).value();
  const int64_t own = store_->EnsureTask(ExampleTask(1)).value();
  Job wanted = ExampleJob(both, "first");
  wanted.tasks.push_back(wanted.tasks[0]);
  wanted.tasks[1].task = own;
  const int64_t first = store_->SubmitJob(wanted).value().id;
  store_->SubmitJob(ExampleJob(both, "second")).value();
  const int64_t shared = store_->Propose({ExampleTrial(both, first)}).value().at(0).id;
  store_->Propose({ExampleTrial(own, first)}).value();
  ASSERT_TRUE(EndJob(*store_, first, "by hand").ok());
  const std::vector<Trial> open = store_->OpenTrials(0).value();
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].id, shared);
}

TEST_P(Conformance, AJobThatHasEndedIsNotEndedAgain) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  ASSERT_TRUE(store_->SetJobState(job, JobState::kDone, "").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(EndJob(*store_, job, "by hand")));
  EXPECT_TRUE(absl::IsNotFound(EndJob(*store_, 7, "by hand")));
}

TEST_P(Conformance, OnlyPrivateJobsThatHaveNotEndedAreEndedTogether) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t service = store_->SubmitJob(ExampleJob(task, "service")).value().id;
  const int64_t queued = store_->SubmitJob(PrivateJob(task, "queued")).value().id;
  const int64_t running = store_->SubmitJob(PrivateJob(task, "running")).value().id;
  const int64_t done = store_->SubmitJob(PrivateJob(task, "done")).value().id;
  ASSERT_TRUE(store_->SetJobState(service, JobState::kRunning, "").ok());
  ASSERT_TRUE(store_->SetJobState(running, JobState::kRunning, "").ok());
  ASSERT_TRUE(store_->SetJobState(done, JobState::kDone, "").ok());
  EXPECT_EQ(EndPrivateJobs(*store_).value(), 2);
  EXPECT_EQ(EndPrivateJobs(*store_).value(), 0);
  Reopen();
  EXPECT_EQ(store_->GetJob(service)->state, JobState::kRunning);
  EXPECT_EQ(store_->GetJob(done)->state, JobState::kDone);
  for (const int64_t job : {queued, running}) {
    EXPECT_EQ(store_->GetJob(job)->state, JobState::kCancelled);
    EXPECT_EQ(store_->GetJob(job)->message, kClientHasEnded);
  }
}

}  // namespace
}  // namespace hone::tuning_db
