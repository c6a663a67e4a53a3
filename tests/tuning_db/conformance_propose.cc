// Proposals that are answered later.
#include <gmock/gmock.h>

#include <future>

#include "tests/tuning_db/conformance.h"

namespace hone::tuning_db {
namespace {

using testing::SizeIs;

absl::StatusOr<std::vector<Trial>> ProposeLater(Store& store, const Ownership& ownership,
                                                const std::vector<Trial>& trials) {
  std::promise<absl::StatusOr<std::vector<Trial>>> promise;
  const absl::Status begun = store.ProposeThen(
      ownership, trials,
      [&promise](absl::StatusOr<std::vector<Trial>> rows) { promise.set_value(std::move(rows)); });
  if (!begun.ok()) return begun;
  return promise.get_future().get();
}

TEST_P(Conformance, WhatIsProposedForLaterIsThereWhenItIsAnswered) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Trial known = store_->Propose({ExampleTrial(task, 0, 1)}).value().at(0);
  const auto rows =
      ProposeLater(*store_, {}, {ExampleTrial(task, 0, 2), ExampleTrial(task, 0, 1)}).value();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].config, ExampleTrial(task, 0, 2).config);
  EXPECT_EQ(rows[1].id, known.id);
  Reopen();
  EXPECT_THAT(store_->OpenTrials(0).value(), SizeIs(2));
}

TEST_P(Conformance, AProposalForLaterIsAllOrNothing) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto rows = ProposeLater(*store_, {}, {ExampleTrial(task, 0, 1), ExampleTrial(99, 0, 1)});
  EXPECT_FALSE(rows.ok()) << "there is no task 99";
  EXPECT_THAT(ProposeLater(*store_, {}, {}).value(), testing::IsEmpty());
  Reopen();
  EXPECT_THAT(store_->OpenTrials(0).value(), testing::IsEmpty());
}

TEST_P(Conformance, AProposalForLaterToAJobOfAnotherIsRefused) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Job job = ExampleJob(task);
  const Ownership first = store_->BeginEpoch("daemon", kLeaseNs).value();
  job.owner = first.owner;
  job.epoch = first.epoch;
  const int64_t id = store_->SubmitJob(job).value().id;
  const Ownership second = store_->BeginEpoch("daemon", kLeaseNs).value();
  store_->TakeJobs(second, kLeaseNs).value();
  ASSERT_TRUE(store_->SetJobState(id, JobState::kRunning, "").ok());
  EXPECT_TRUE(absl::IsAborted(ProposeLater(*store_, first, {ExampleTrial(task, id)}).status()));
  EXPECT_THAT(ProposeLater(*store_, second, {ExampleTrial(task, id)}).value(), SizeIs(1));
}

}  // namespace
}  // namespace hone::tuning_db
