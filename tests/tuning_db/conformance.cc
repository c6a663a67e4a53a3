#include "tests/tuning_db/conformance.h"

#include <cmath>
#include <limits>

#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<int64_t> Ids(const std::vector<Record>& records) {
  std::vector<int64_t> ids;
  for (const Record& record : records) ids.push_back(record.id);
  return ids;
}

std::vector<int64_t> Ids(const std::vector<Trial>& trials) {
  std::vector<int64_t> ids;
  for (const Trial& trial : trials) ids.push_back(trial.id);
  return ids;
}

// Proposes, leases and settles one trial.
Trial SettleOne(Store& store, const Trial& wanted, double median_ns = 1000) {
  const Trial trial = store.Propose({wanted}).value().at(0);
  const Trial leased = store.Lease(trial.id, "worker-1").value();
  EXPECT_EQ(store.Settle(leased.fence, ExampleRecord(trial.id, median_ns)).value(),
            SettleResult::kSettled);
  return leased;
}

TEST_P(Conformance, TaskIsMadeOnceAndKeepsItsTexts) {
  const Task task = ExampleTask();
  const int64_t id = store_->EnsureTask(task).value();
  EXPECT_EQ(store_->EnsureTask(task).value(), id);
  EXPECT_NE(store_->EnsureTask(ExampleTask(1)).value(), id);
  Reopen();
  EXPECT_EQ(store_->EnsureTask(task).value(), id);
  const Task read = store_->GetTask(id).value();
  EXPECT_EQ(read.id, id);
  EXPECT_EQ(read.workload, task.workload);
  EXPECT_EQ(read.workload_digest, task.workload_digest);
  EXPECT_EQ(read.anchor_digest, task.anchor_digest);
  EXPECT_EQ(read.target, task.target);
  EXPECT_EQ(store_->FindTask(task.workload_digest, task.target).value()->id, id);
  EXPECT_FALSE(store_->FindTask(task.workload_digest, "another").value().has_value());
}

TEST_P(Conformance, TasksOfWorkloadSpansTargets) {
  const int64_t here = store_->EnsureTask(ExampleTask(0, "here")).value();
  const int64_t there = store_->EnsureTask(ExampleTask(0, "there")).value();
  store_->EnsureTask(ExampleTask(1, "here")).value();
  const auto tasks = store_->TasksOfWorkload(ExampleTask().workload_digest).value();
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_EQ(tasks[0].id, here);
  EXPECT_EQ(tasks[1].id, there);
  EXPECT_THAT(store_->TasksOfWorkload("none").value(), IsEmpty());
}

TEST_P(Conformance, UnknownIdsAreNotFound) {
  EXPECT_TRUE(absl::IsNotFound(store_->GetTask(7).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->GetJob(7).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->SetJobState(7, JobState::kDone, "")));
  EXPECT_TRUE(absl::IsNotFound(store_->AppendEvent(7, "kind", "{}").status()));
  EXPECT_TRUE(absl::IsNotFound(store_->ListEvents(7, 0, 0).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->Propose({ExampleTrial(7, 0)}).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->Lease(7, "worker").status()));
  EXPECT_TRUE(absl::IsNotFound(store_->Release(7, 1)));
  EXPECT_TRUE(absl::IsNotFound(store_->Settle(1, ExampleRecord(7)).status()));
  EXPECT_TRUE(
      absl::IsNotFound(store_->SettleFinal(1, ExampleRecord(7), ExampleFinal(1, 0)).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->Import(ExampleTrial(7, 0), ExampleRecord(0)).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->SetJobRan(7, 1)));
  EXPECT_TRUE(absl::IsNotFound(store_->AddFinal(ExampleFinal(7, 0)).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->SubmitJob(ExampleJob(7)).status()));
  EXPECT_THAT(std::string(store_->GetTask(7).status().message()), HasSubstr("no task 7"));
}

TEST_P(Conformance, JobKeepsEveryField) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Job job = store_->SubmitJob(ExampleJob(task)).value();
  Reopen();
  const Job read = store_->GetJob(job.id).value();
  EXPECT_EQ(read.client_id, "client-1");
  EXPECT_EQ(read.model, "resnet18");
  EXPECT_EQ(read.target, "llvm");
  EXPECT_EQ(read.seed, 0xFFFF'FFFF'FFFF'FFFEu);
  EXPECT_EQ(read.priority, -3);
  EXPECT_EQ(read.deadline_ns, 60'000'000'000);
  EXPECT_EQ(read.search, "xgboost");
  EXPECT_EQ(read.constant_bytes, 46'000'000'000);
  EXPECT_EQ(read.ran_ns, 0);
  EXPECT_EQ(read.owner, "honed@host");
  EXPECT_EQ(read.epoch, 4);
  EXPECT_EQ(read.state, JobState::kQueued);
  ASSERT_THAT(read.tasks, SizeIs(1));
  EXPECT_EQ(read.tasks[0].task, task);
  EXPECT_EQ(read.tasks[0].signature, kSignature);
  EXPECT_EQ(read.tasks[0].name, "conv1");
  EXPECT_EQ(read.tasks[0].weight, 2.5);
  EXPECT_EQ(read.tasks[0].trials, 64);
}

TEST_P(Conformance, SubmitIsIdempotentByClientId) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Job first = store_->SubmitJob(ExampleJob(task)).value();
  ASSERT_TRUE(store_->SetJobState(first.id, JobState::kRunning, "at work").ok());
  const Job again = store_->SubmitJob(ExampleJob(task)).value();
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.state, JobState::kRunning);
  EXPECT_EQ(again.message, "at work");
  EXPECT_THAT(store_->ListJobs(0, 0).value(), SizeIs(1));
  EXPECT_TRUE(absl::IsInvalidArgument(store_->SubmitJob(ExampleJob(task, "")).status()));
}

TEST_P(Conformance, RunningTimeOfAJobOutlivesItsDaemons) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Job wanted = ExampleJob(task);
  wanted.ran_ns = 77;
  const int64_t job = store_->SubmitJob(wanted).value().id;
  EXPECT_EQ(store_->GetJob(job).value().ran_ns, 0) << "a new job has not run";
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->SetJobRan(job, 1))) << "queued";
  ASSERT_TRUE(store_->SetJobState(job, JobState::kRunning, "").ok());
  ASSERT_TRUE(store_->SetJobRan(job, 5'000'000'000).ok());
  ASSERT_TRUE(store_->SetJobState(job, JobState::kQueued, "drained").ok());
  Reopen();
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->SetJobRan(job, 1)));
  EXPECT_EQ(store_->SubmitJob(wanted).value().ran_ns, 5'000'000'000);
  ASSERT_TRUE(store_->SetJobState(job, JobState::kRunning, "").ok());
  EXPECT_EQ(store_->GetJob(job).value().ran_ns, 5'000'000'000);
  ASSERT_TRUE(store_->SetJobRan(job, 6'000'000'000).ok());
  ASSERT_TRUE(store_->SetJobState(job, JobState::kDone, "").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->SetJobRan(job, 1))) << "ended";
  EXPECT_EQ(store_->GetJob(job).value().ran_ns, 6'000'000'000);
  EXPECT_THAT(store_->ListEvents(job, 0, 0).value(), SizeIs(4)) << "of states only";
}

TEST_P(Conformance, JobsAreListedInPages) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  for (const char* client : {"a", "b", "c"}) store_->SubmitJob(ExampleJob(task, client)).value();
  const auto page = store_->ListJobs(1, 1).value();
  ASSERT_THAT(page, SizeIs(1));
  EXPECT_EQ(page[0].client_id, "b");
  EXPECT_THAT(page[0].tasks, SizeIs(1));
  EXPECT_THAT(store_->ListJobs(3, 0).value(), IsEmpty());
}

TEST_P(Conformance, EndedJobStaysAsItEnded) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  ASSERT_TRUE(store_->SetJobState(job, JobState::kRunning, "").ok());
  ASSERT_TRUE(store_->SetJobState(job, JobState::kQueued, "drained").ok());
  ASSERT_TRUE(store_->SetJobState(job, JobState::kCancelled, "by its owner").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->SetJobState(job, JobState::kRunning, "")));
  EXPECT_TRUE(store_->SetJobState(job, JobState::kCancelled, "again").ok());
  const Job read = store_->GetJob(job).value();
  EXPECT_EQ(read.state, JobState::kCancelled);
  EXPECT_EQ(read.message, "by its owner");
  EXPECT_THAT(store_->ListEvents(job, 0, 0).value(), SizeIs(3)) << "one for each transition";
}

TEST_P(Conformance, EventsAreNumberedByJob) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t a = store_->SubmitJob(ExampleJob(task, "a")).value().id;
  const int64_t b = store_->SubmitJob(ExampleJob(task, "b")).value().id;
  EXPECT_EQ(store_->AppendEvent(a, "note", R"({"n":1})").value(), 1);
  EXPECT_EQ(store_->AppendEvent(b, "note", R"({"n":2})").value(), 1);
  EXPECT_EQ(store_->AppendEvent(a, "note", R"({"n":3})").value(), 2);
  Reopen();
  ASSERT_TRUE(store_->SetJobState(a, JobState::kRunning, "").ok());
  const auto events = store_->ListEvents(a, 1, 2).value();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].seq, 2);
  EXPECT_EQ(events[0].kind, "note");
  EXPECT_EQ(events[0].payload, R"({"n":3})");
  EXPECT_GT(events[0].wall_time_ns, 0);
  EXPECT_EQ(events[1].seq, 3);
  EXPECT_EQ(events[1].kind, "state");
  EXPECT_EQ(events[1].job, a);
}

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

TEST_P(Conformance, RecordKeepsEveryField) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const Trial trial = store_->Propose({ExampleTrial(task, job)}).value().at(0);
  const Trial leased = store_->Lease(trial.id, "w").value();
  const Record record = ExampleRecord(trial.id, 1234.5);
  ASSERT_EQ(store_->Settle(leased.fence, record).value(), SettleResult::kSettled);
  Reopen();
  const auto records = store_->Records({}).value();
  ASSERT_THAT(records, SizeIs(1));
  const Record& read = records[0];
  EXPECT_EQ(read.trial, trial.id);
  EXPECT_EQ(read.outcome, Outcome::kOk);
  EXPECT_EQ(read.samples_ns, record.samples_ns) << "bit for bit";
  EXPECT_EQ(read.median_ns, 1234.5);
  EXPECT_EQ(read.calibrator_ns, record.calibrator_ns);
  EXPECT_EQ(read.anchor_ns, record.anchor_ns);
  EXPECT_EQ(read.error_ratio, record.error_ratio);
  EXPECT_EQ(read.artifact_digest, record.artifact_digest);
  EXPECT_EQ(read.toolchain, record.toolchain);
  EXPECT_EQ(read.device, record.device);
  EXPECT_EQ(read.regime, record.regime);
  EXPECT_EQ(read.worker, record.worker);
  EXPECT_EQ(read.wall_time_ns, record.wall_time_ns);
  EXPECT_EQ(read.of_trial.id, trial.id);
  EXPECT_EQ(read.of_trial.task, task);
  EXPECT_EQ(read.of_trial.job, job);
  EXPECT_EQ(read.of_trial.config, trial.config);
  EXPECT_EQ(read.of_trial.config_digest, trial.config_digest);
  EXPECT_EQ(read.of_trial.nest_digest, trial.nest_digest);
  EXPECT_EQ(read.of_trial.signature, kSignature);
  EXPECT_EQ(read.of_trial.state, TrialState::kSettled);
  EXPECT_EQ(read.of_trial.fence, leased.fence);
}

TEST_P(Conformance, FailuresAreRecordsAndFiguresMayBeInfinite) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto rows = store_->Propose({ExampleTrial(task, 0, 1), ExampleTrial(task, 0, 2)}).value();
  Record wrong;
  wrong.trial = rows[0].id;
  wrong.outcome = Outcome::kWrongOutput;
  wrong.message = std::string("element 3: expected 1, found \xff nan; see \"log\"\n");
  wrong.error_ratio = std::numeric_limits<double>::infinity();
  ASSERT_EQ(store_->Settle(store_->Lease(rows[0].id, "w").value().fence, wrong).value(),
            SettleResult::kSettled);
  wrong.trial = rows[1].id;
  wrong.error_ratio = std::nan("");
  ASSERT_EQ(store_->Settle(store_->Lease(rows[1].id, "w").value().fence, wrong).value(),
            SettleResult::kSettled);
  const auto records = store_->Records({}).value();
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].outcome, Outcome::kWrongOutput);
  EXPECT_EQ(records[0].message, wrong.message);
  EXPECT_THAT(records[0].samples_ns, IsEmpty());
  EXPECT_TRUE(std::isinf(records[0].error_ratio));
  EXPECT_TRUE(std::isnan(records[1].error_ratio));
}

TEST_P(Conformance, SettlingAndFinalsAreEventsOfTheirJob) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const Trial trial = SettleOne(*store_, ExampleTrial(task, job));
  EXPECT_EQ(store_->Settle(trial.fence, ExampleRecord(trial.id)).value(), SettleResult::kDuplicate);
  ASSERT_TRUE(store_->AddFinal(ExampleFinal(task, job)).ok());
  SettleOne(*store_, ExampleTrial(task, 0, 9));  // of no job: no event
  const auto events = store_->ListEvents(job, 0, 0).value();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].kind, "trial_settled");
  EXPECT_THAT(events[0].payload, HasSubstr(R"("outcome":"ok")"));
  EXPECT_EQ(events[1].kind, "final");
  EXPECT_THAT(events[1].payload, HasSubstr(R"("ratio_to_default":2.0)"));
}

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
  EXPECT_EQ(store_->AddFinal(ExampleFinal(confirm.task, 0)).value(), 2)
      << "the second of all finals";
  EXPECT_THAT(store_->Records({}).value(), SizeIs(1));
  EXPECT_THAT(store_->ListEvents(confirm.job, 0, 0).value(), SizeIs(2));
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

TEST_P(Conformance, ImportedTrialIsSettledAtOnce) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Trial trial = ExampleTrial(task, 0, 3);
  trial.round = 2;
  EXPECT_EQ(store_->Import(trial, ExampleRecord(99, 1234.5)).value(), SettleResult::kSettled);
  Reopen();
  EXPECT_THAT(store_->OpenTrials(0).value(), IsEmpty());
  const auto records = store_->Records({}).value();
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].trial, records[0].of_trial.id) << "not the one that the record came with";
  EXPECT_EQ(records[0].median_ns, 1234.5);
  EXPECT_EQ(records[0].worker, "worker-1") << "who measured it, elsewhere";
  EXPECT_EQ(records[0].of_trial.worker, "import");
  EXPECT_EQ(records[0].of_trial.state, TrialState::kSettled);
  EXPECT_EQ(records[0].of_trial.config, trial.config);
  EXPECT_EQ(records[0].of_trial.round, 2);
  EXPECT_EQ(store_->Import(trial, ExampleRecord(0, 1)).value(), SettleResult::kDuplicate);
  EXPECT_THAT(store_->Records({}).value(), SizeIs(1));
}

TEST_P(Conformance, ImportLeavesKnownTrialsAsTheyAre) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto rows = store_->Propose({ExampleTrial(task, 0, 1), ExampleTrial(task, 0, 2)}).value();
  const int64_t fence = store_->Lease(rows[1].id, "w").value().fence;
  for (const Trial& row : rows) {
    EXPECT_EQ(store_->Import(row, ExampleRecord(0)).value(), SettleResult::kDuplicate);
  }
  EXPECT_THAT(store_->Records({}).value(), IsEmpty());
  EXPECT_EQ(store_->Settle(fence, ExampleRecord(rows[1].id)).value(), SettleResult::kSettled);
}

TEST_P(Conformance, ImportIntoAJobIsAnEventOfIt) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  EXPECT_EQ(store_->Import(ExampleTrial(task, job), ExampleRecord(0)).value(),
            SettleResult::kSettled);
  EXPECT_EQ(store_->ListEvents(job, 0, 0).value().at(0).kind, "trial_settled");
  EXPECT_TRUE(
      absl::IsNotFound(store_->Import(ExampleTrial(task, 99, 5), ExampleRecord(0)).status()));
}

TEST_P(Conformance, RecordsAreFilteredAndPaged) {
  const int64_t here = store_->EnsureTask(ExampleTask(1, "here")).value();
  const int64_t there = store_->EnsureTask(ExampleTask(2, "there")).value();
  const int64_t job = store_->SubmitJob(ExampleJob(here)).value().id;
  SettleOne(*store_, ExampleTrial(here, job, 1));
  SettleOne(*store_, ExampleTrial(there, 0, 1));
  Trial confirm = ExampleTrial(here, 0, 1);
  confirm.purpose = Purpose::kConfirm;
  SettleOne(*store_, confirm);
  Trial plain = ExampleTrial(here, 0, 1);
  plain.signature = "NC->NC";
  SettleOne(*store_, plain);

  const auto ids = [&](const RecordFilter& filter) { return Ids(store_->Records(filter).value()); };
  EXPECT_THAT(ids({}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ids({.task = here}), ElementsAre(1, 3, 4));
  EXPECT_THAT(ids({.signature = "NC->NC"}), ElementsAre(4));
  EXPECT_THAT(ids({.job = job}), ElementsAre(1));
  EXPECT_THAT(ids({.purpose = Purpose::kConfirm}), ElementsAre(3));
  EXPECT_THAT(ids({.target = "there"}), ElementsAre(2));
  EXPECT_THAT(ids({.workload_substring = "(1, 2)"}), ElementsAre(2));
  EXPECT_THAT(ids({.workload_substring = "%"}), IsEmpty()) << "a substring is no pattern";
  EXPECT_THAT(ids({.after_id = 1, .limit = 2}), ElementsAre(2, 3));
  EXPECT_THAT(ids({.limit = 2, .newest_first = true}), ElementsAre(4, 3));
  EXPECT_THAT(ids({.after_id = 3, .newest_first = true}), ElementsAre(2, 1));
  EXPECT_THAT(ids({.task = here, .purpose = Purpose::kSearch, .limit = 1, .newest_first = true}),
              ElementsAre(4));
}

TEST_P(Conformance, NewestFinalIsOfTheTaskAndSignature) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t other = store_->EnsureTask(ExampleTask(1)).value();
  EXPECT_FALSE(store_->NewestFinal(task, kSignature).value().has_value());
  store_->AddFinal(ExampleFinal(task, 0, 10)).value();
  const int64_t newest = store_->AddFinal(ExampleFinal(task, 0, 64)).value();
  store_->AddFinal(ExampleFinal(other, 0, 20)).value();
  Reopen();
  const Final read = store_->NewestFinal(task, kSignature).value().value();
  EXPECT_EQ(read.id, newest);
  EXPECT_EQ(read.task, task);
  EXPECT_EQ(read.signature, kSignature);
  EXPECT_EQ(read.job, 0);
  EXPECT_EQ(read.distinct_trials, 64);
  EXPECT_EQ(read.space_size, 5000);
  EXPECT_EQ(read.winner, 1);
  EXPECT_EQ(read.default_entry, 0);
  EXPECT_EQ(read.toolchain, "llvm 19.1.7");
  EXPECT_EQ(read.device, "cpu of a test");
  EXPECT_EQ(read.wall_time_ns, 1'700'000'000'000'000'001);
  ASSERT_THAT(read.entries, SizeIs(2));
  EXPECT_EQ(read.entries[1].config, "tile=8 unroll=4");
  EXPECT_EQ(read.entries[1].nest_digest, "nest-winner");
  EXPECT_EQ(read.entries[1].artifact_digest, "artifact-winner");
  EXPECT_THAT(read.entries[1].round_ns, ElementsAre(1000, 1002));
  EXPECT_EQ(read.entries[1].median_ns, 1001);
  EXPECT_EQ(read.entries[1].ratio_to_default, 2.0);
  EXPECT_FALSE(store_->NewestFinal(task, "NCHW->NCHW").value().has_value());
}

TEST_P(Conformance, FinalWithoutItsWinnerIsRefused) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Final final = ExampleFinal(task, 0);
  final.winner = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(store_->AddFinal(final).status()));
  EXPECT_FALSE(store_->NewestFinal(task, kSignature).value().has_value());
}

TEST_P(Conformance, MissesAreCountedByModel) {
  const Task task = ExampleTask();
  Miss miss{task.workload, task.workload_digest, kSignature, task.target, "default", "resnet18", 1};
  ASSERT_TRUE(store_->RecordMiss(miss).ok());
  miss.tier = "tuning";
  ASSERT_TRUE(store_->RecordMiss(miss).ok());
  miss.model = "resnet50";
  miss.target = "elsewhere";
  ASSERT_TRUE(store_->RecordMiss(miss).ok());
  Reopen();
  const auto misses = store_->ListMisses("").value();
  ASSERT_THAT(misses, SizeIs(2));
  EXPECT_EQ(misses[0].workload, task.workload);
  EXPECT_EQ(misses[0].workload_digest, task.workload_digest);
  EXPECT_EQ(misses[0].signature, kSignature);
  EXPECT_EQ(misses[0].target, task.target);
  EXPECT_EQ(misses[0].tier, "tuning");
  EXPECT_EQ(misses[0].model, "resnet18");
  EXPECT_EQ(misses[0].count, 2);
  EXPECT_EQ(misses[1].count, 1);
  EXPECT_THAT(store_->ListMisses("elsewhere").value(), SizeIs(1));
}

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Conformance);

}  // namespace hone::tuning_db
