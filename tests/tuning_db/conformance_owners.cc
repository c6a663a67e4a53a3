// Who owns jobs, and what writes of others come to.
#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<int64_t> IdsOfJobs(const std::vector<Job>& jobs) {
  std::vector<int64_t> ids;
  for (const Job& job : jobs) ids.push_back(job.id);
  return ids;
}

TEST_P(Conformance, EpochsOnlyGrowAlsoAcrossReopening) {
  const Ownership first = store_->BeginEpoch("daemon", kLeaseNs).value();
  EXPECT_EQ(first.owner, "daemon");
  EXPECT_GT(first.epoch, 0);
  Reopen();
  const Ownership second = store_->BeginEpoch("another", kLeaseNs).value();
  EXPECT_GT(second.epoch, first.epoch);
  EXPECT_TRUE(absl::IsInvalidArgument(store_->BeginEpoch("", kLeaseNs).status()));
}

TEST_P(Conformance, ANewLifeTakesTheJobsOfTheOneBefore) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Ownership before = store_->BeginEpoch("daemon", kLeaseNs).value();
  Job wanted = ExampleJob(task, "open");
  wanted.owner = before.owner;
  wanted.epoch = before.epoch;
  const int64_t open = store_->SubmitJob(wanted).value().id;
  wanted.client_id = "ended";
  const int64_t ended = store_->SubmitJob(wanted).value().id;
  ASSERT_TRUE(store_->SetJobState(before, ended, JobState::kDone, "").ok());
  EXPECT_THAT(store_->RenewJobs(before, kLeaseNs).value(), ElementsAre(open));
  EXPECT_THAT(store_->TakeJobs(before, kLeaseNs).value(), IsEmpty()) << "all are its own";

  Reopen();
  const Ownership now = store_->BeginEpoch("daemon", kLeaseNs).value();
  const auto taken = store_->TakeJobs(now, kLeaseNs).value();
  ASSERT_THAT(IdsOfJobs(taken), ElementsAre(open));
  EXPECT_EQ(taken[0].epoch, now.epoch);
  EXPECT_EQ(store_->GetJob(open)->epoch, now.epoch);
  EXPECT_EQ(store_->GetJob(ended)->epoch, before.epoch);
  EXPECT_THAT(store_->RenewJobs(now, kLeaseNs).value(), ElementsAre(open));
  EXPECT_TRUE(absl::IsAborted(store_->RenewJobs(before, kLeaseNs).status()));
  EXPECT_TRUE(absl::IsAborted(store_->TakeJobs(before, kLeaseNs).status()));
}

TEST_P(Conformance, WritesToAJobOfAnotherAreRefused) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Ownership before = store_->BeginEpoch("daemon", kLeaseNs).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  ASSERT_THAT(IdsOfJobs(store_->TakeJobs(before, kLeaseNs).value()), ElementsAre(job));
  ASSERT_TRUE(store_->SetJobState(before, job, JobState::kRunning, "").ok());
  const Trial trial = store_->Propose(before, {ExampleTrial(task, job)}).value().at(0);
  const int64_t fence =
      store_->Lease({.trial = trial.id, .worker = "w", .ownership = before}).value().fence;
  const Ownership now = store_->BeginEpoch("daemon", kLeaseNs).value();
  ASSERT_THAT(IdsOfJobs(store_->TakeJobs(now, kLeaseNs).value()), ElementsAre(job));

  EXPECT_TRUE(absl::IsAborted(store_->SetJobState(before, job, JobState::kRunning, "")));
  EXPECT_TRUE(absl::IsAborted(store_->SetJobRan(before, job, 1)));
  EXPECT_TRUE(absl::IsAborted(store_->AppendEvent(before, job, "waiting", "{}").status()));
  EXPECT_TRUE(absl::IsAborted(store_->Propose(before, {ExampleTrial(task, job, 2)}).status()));
  EXPECT_TRUE(absl::IsAborted(
      store_->Lease({.trial = trial.id, .worker = "w", .ownership = before}).status()));
  EXPECT_THAT(store_->ListEvents(job, 0, 0).value(), SizeIs(1)) << "that it runs";
  EXPECT_EQ(store_->OpenTrials(job).value().size(), 1u);
  EXPECT_TRUE(store_->SetJobState(now, job, JobState::kRunning, "").ok());
  EXPECT_EQ(store_->Settle(fence, ExampleRecord(trial.id)).value(), SettleResult::kSettled)
      << "a result is good by its fence";
}

TEST_P(Conformance, OwnersThatAreInTimeKeepTheirJobs) {
  if (!store_->HasManyOwners()) GTEST_SKIP() << "it has one writer, which owns all";
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Ownership one = store_->BeginEpoch("one", kLeaseNs).value();
  const Ownership other = store_->BeginEpoch("other", kLeaseNs).value();
  Job wanted = ExampleJob(task);
  wanted.owner = one.owner;
  wanted.epoch = one.epoch;
  const int64_t job = store_->SubmitJob(wanted).value().id;
  ASSERT_TRUE(store_->SetJobState(one, job, JobState::kRunning, "").ok());
  const Trial trial = store_->Propose(one, {ExampleTrial(task, job)}).value().at(0);
  const int64_t fence =
      store_->Lease({.trial = trial.id, .worker = "w", .ownership = one}).value().fence;

  EXPECT_THAT(store_->TakeJobs(other, kLeaseNs).value(), IsEmpty());
  EXPECT_THAT(store_->RenewJobs(other, kLeaseNs).value(), IsEmpty());
  EXPECT_THAT(store_->RenewJobs(one, kLeaseNs).value(), ElementsAre(job));
  EXPECT_TRUE(absl::IsAborted(store_->SetJobState(other, job, JobState::kRunning, "")));

  // It says nothing until its time is over.
  ASSERT_TRUE(store_->RenewJobs(one, -1).ok());
  EXPECT_THAT(IdsOfJobs(store_->TakeJobs(other, kLeaseNs).value()), ElementsAre(job));
  EXPECT_EQ(store_->GetJob(job)->owner, "other");
  EXPECT_THAT(store_->RenewJobs(one, kLeaseNs).value(), IsEmpty()) << "it renews too late";
  EXPECT_THAT(store_->TakeJobs(one, kLeaseNs).value(), IsEmpty());
  EXPECT_TRUE(absl::IsAborted(store_->Propose(one, {ExampleTrial(task, job, 2)}).status()));
  EXPECT_EQ(store_->Settle(fence, ExampleRecord(trial.id)).value(), SettleResult::kSettled)
      << "a result is good by its fence";
}

// After an outage of the database no daemon is in time: the first that is back must not take the
// jobs of all others.
TEST_P(Conformance, WhoComesBackLateRenewsAndTakesNothing) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Ownership one = store_->BeginEpoch("one", kLeaseNs).value();
  const Ownership other = store_->BeginEpoch("other", kLeaseNs).value();
  Job wanted = ExampleJob(task, "of the other");
  wanted.owner = other.owner;
  wanted.epoch = other.epoch;
  const int64_t job = store_->SubmitJob(wanted).value().id;
  ASSERT_TRUE(store_->RenewJobs(other, -1).ok());

  for (const int64_t left_ns : {int64_t{-1}, kLeaseNs / 4}) {
    SCOPED_TRACE(left_ns);
    ASSERT_TRUE(store_->RenewJobs(one, left_ns).ok());
    EXPECT_THAT(store_->TakeJobs(one, kLeaseNs).value(), IsEmpty());
    EXPECT_EQ(store_->GetJob(job)->owner, "other");
  }
  // The other one comes back as late, and finds what it had.
  EXPECT_THAT(store_->TakeJobs(other, kLeaseNs).value(), IsEmpty());
  EXPECT_THAT(store_->RenewJobs(other, -1).value(), ElementsAre(job));
  // It stays away: whoever has renewed in time takes its jobs.
  EXPECT_THAT(IdsOfJobs(store_->TakeJobs(one, kLeaseNs).value()), ElementsAre(job));
}

TEST_P(Conformance, WhatIsLeftOfAnEndedJobIsAnybodysWhoWantsIt) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  const Trial trial = store_->Propose({ExampleTrial(task, job)}).value().at(0);
  ASSERT_TRUE(store_->SetJobState(job, JobState::kCancelled, "").ok());
  const Ownership self = store_->BeginEpoch("daemon", kLeaseNs).value();
  EXPECT_TRUE(store_->Lease({.trial = trial.id, .worker = "w", .ownership = self}).ok());
}

// Another job, of another owner, may want the same task.
TEST_P(Conformance, TheTrialsOfAJobThatDoesNotRunAreAnybodysAndNobodyAddsAny) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Ownership own = store_->BeginEpoch("own", kLeaseNs).value();
  Job wanted = ExampleJob(task);
  wanted.owner = own.owner;
  wanted.epoch = own.epoch;
  const int64_t job = store_->SubmitJob(wanted).value().id;
  const Ownership other = store_->BeginEpoch("other", kLeaseNs).value();
  ASSERT_TRUE(store_->SetJobState(own, job, JobState::kRunning, "").ok());
  const Trial trial = store_->Propose(own, {ExampleTrial(task, job)}).value().at(0);
  const auto lease = [&] { return store_->Lease({.trial = trial.id, .ownership = other}); };
  const auto propose = [&](const Ownership& self) {
    return store_->Propose(self, {ExampleTrial(task, job, 2)}).status();
  };

  EXPECT_TRUE(absl::IsAborted(lease().status())) << "it runs";
  for (const JobState state : {JobState::kPaused, JobState::kQueued}) {
    ASSERT_TRUE(store_->SetJobState(job, state, "").ok());
    EXPECT_TRUE(lease().ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(propose(own)));
    EXPECT_TRUE(absl::IsAborted(propose(other)));
    EXPECT_TRUE(absl::IsAborted(store_->SetJobState(other, job, JobState::kDone, "")));
  }
  EXPECT_EQ(store_->OpenTrials(job).value().size(), 1u);
  ASSERT_TRUE(store_->SetJobState(own, job, JobState::kRunning, "").ok());
  EXPECT_TRUE(propose(own).ok());
}

}  // namespace
}  // namespace hone::tuning_db
