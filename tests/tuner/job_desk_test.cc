// What may be submitted, and how much of it at once.
#include "tuner/service/job_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuner/fake_job.h"
#include "tests/tuner/fakes.h"

namespace hone::tuner {
namespace {

using ::testing::HasSubstr;
namespace v1 = hone::v1;

constexpr int64_t kMostBytes = 1000;

class JobDeskTest : public ::testing::Test {
 protected:
  JobDeskTest() {
    JobDesk::Parts parts;
    parts.store = store_.get();
    parts.lowerer = &lowerer_;
    parts.search = [this](const std::string& name) { return name == "fake" ? &search_ : nullptr; };
    parts.targets = [] { return std::vector<std::string>{kFakeTarget}; };
    parts.submitted = [this](int64_t job, const TaskContexts&) { submitted_.push_back(job); };
    parts.executor = &executor_;
    parts.ownership = {"unix:socket", 7};
    parts.quota = {.most_jobs = 2, .most_tasks = 3, .most_bytes = kMostBytes};
    desk_ = std::make_unique<JobDesk>(std::move(parts));
  }

  static v1::JobSpec Spec() {
    v1::JobSpec spec = FakeJob({"conv"}, 20);
    spec.clear_target();  // the farm has only one
    return spec;
  }
  // Without reading it yet.
  absl::StatusOr<tuning_db::Job>& Submit(const std::string& client_id, const v1::JobSpec& spec) {
    absl::StatusOr<tuning_db::Job>& answer = *answers_.emplace_back(
        std::make_unique<absl::StatusOr<tuning_db::Job>>(absl::UnknownError("no answer yet")));
    v1::SubmitJobRequest& request =
        *requests_.emplace_back(std::make_unique<v1::SubmitJobRequest>());
    request.set_client_id(client_id);
    request.set_request_digest(request_digest_);
    *request.mutable_spec() = spec;
    desk_->Submit(request, submitter_,
                  [&answer](absl::StatusOr<tuning_db::Job> job) { answer = std::move(job); });
    return answer;
  }
  absl::StatusOr<tuning_db::Job> Clone(const v1::CloneJobRequest& request) {
    absl::StatusOr<tuning_db::Job> answer = absl::UnknownError("no answer");
    desk_->Clone(request, {.name = "ben"},
                 [&](absl::StatusOr<tuning_db::Job> job) { answer = job; });
    RunAll();
    return answer;
  }
  void RunAll() {
    while (executor_.RunOne()) {
    }
  }

  std::unique_ptr<tuning_db::Store> store_ = tuning_db::MakeMemoryStore();
  FakeLowerer lowerer_;
  FakeSearch search_;
  ManualExecutor executor_;
  std::vector<int64_t> submitted_;
  std::vector<std::unique_ptr<absl::StatusOr<tuning_db::Job>>> answers_;
  std::vector<std::unique_ptr<v1::SubmitJobRequest>> requests_;
  std::string request_digest_;  // that the client says; empty: none
  std::unique_ptr<JobDesk> desk_;
  Submitter submitter_{.name = "ann"};
};

TEST_F(JobDeskTest, AJobIsOfItsSubmitterAndOfThisLifeOfTheDaemon) {
  const v1::JobSpec spec = Spec();
  const auto& job = Submit("a", spec);
  RunAll();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->submitter, "ann");
  EXPECT_EQ(job->owner, "unix:socket");
  EXPECT_EQ(job->epoch, 7);
  EXPECT_EQ(submitted_, std::vector<int64_t>{job->id});
}

TEST_F(JobDeskTest, ABoundedNumberWaitsToBeRead) {
  const v1::JobSpec spec = Spec();
  for (int i = 0; i < kMostSubmissions; ++i) Submit(std::to_string(i), spec);
  const auto& one_more = Submit("one more", spec);
  EXPECT_TRUE(absl::IsResourceExhausted(one_more.status())) << one_more.status();
  RunAll();
  for (int i = 0; i < kMostSubmissions; ++i) EXPECT_TRUE(answers_[static_cast<size_t>(i)]->ok());
  const auto& again = Submit("one more", spec);
  RunAll();
  EXPECT_TRUE(again.ok()) << again.status();
}

TEST_F(JobDeskTest, WhatIsTooLargeIsRefusedUnread) {
  v1::JobSpec long_workload = Spec();
  long_workload.mutable_tasks(0)->set_workload(std::string(kMostWorkloadBytes + 1, 'x'));
  v1::JobSpec many_tasks = Spec();
  for (int i = 0; i < kMostTasks; ++i) *many_tasks.add_tasks() = many_tasks.tasks(0);
  v1::JobSpec many_bytes = Spec();
  many_bytes.mutable_tasks(0)->set_workload(std::string(kMostWorkloadBytes, 'x'));
  for (size_t i = 0; i < kMostJobBytes / kMostWorkloadBytes; ++i) {
    *many_bytes.add_tasks() = many_bytes.tasks(0);
  }
  v1::JobSpec no_tasks = Spec();
  no_tasks.clear_tasks();
  for (const v1::JobSpec* spec : {&long_workload, &many_tasks, &many_bytes, &no_tasks}) {
    const auto& job = Submit("a", *spec);
    EXPECT_TRUE(absl::IsInvalidArgument(job.status())) << job.status();
  }
  EXPECT_THAT(std::string(answers_[0]->status().message()), HasSubstr("conv kernel"));
  EXPECT_FALSE(executor_.RunOne()) << "nothing was parsed";
}

TEST_F(JobDeskTest, ACloneHasWhatItIsGivenAndOtherwiseTheSpecOfTheOther) {
  v1::JobSpec spec = Spec();
  spec.set_model("mlp");
  spec.set_seed(3);
  spec.set_ends_early(true);
  spec.set_limit_ns(5);
  const auto& job = Submit("a", spec);
  RunAll();
  ASSERT_TRUE(store_->SetJobState(job->id, tuning_db::JobState::kCancelled, "").ok());
  v1::CloneJobRequest request;
  request.set_id(job->id);
  request.set_client_id("b");
  request.set_trials(99);
  request.set_seed(0);
  request.set_priority(-2);
  const auto clone = Clone(request);
  ASSERT_TRUE(clone.ok()) << clone.status();
  EXPECT_NE(clone->id, job->id);
  EXPECT_EQ(clone->state, tuning_db::JobState::kQueued);
  EXPECT_EQ(clone->model, "mlp");
  EXPECT_EQ(clone->seed, 0u);
  EXPECT_EQ(clone->priority, -2);
  EXPECT_EQ(clone->deadline_ns, 5);
  EXPECT_TRUE(clone->ends_early);
  EXPECT_EQ(clone->submitter, "ben");
  ASSERT_EQ(clone->tasks.size(), 1u);
  EXPECT_EQ(clone->tasks[0].task, job->tasks[0].task);
  EXPECT_EQ(clone->tasks[0].trials, 99);
  EXPECT_EQ(Clone(request)->id, clone->id) << "idempotent by its own client id";
  request.set_trials(0);
  request.set_client_id("c");
  EXPECT_TRUE(absl::IsInvalidArgument(Clone(request).status()));
  request.clear_trials();
  request.set_id(99);
  EXPECT_TRUE(absl::IsNotFound(Clone(request).status()));
  request.clear_client_id();
  EXPECT_TRUE(absl::IsInvalidArgument(Clone(request).status()));
}

TEST_F(JobDeskTest, AClientIdIsOneRequests) {
  const v1::JobSpec spec = Spec();
  const auto& first = Submit("a", spec);
  RunAll();
  ASSERT_TRUE(first.ok()) << first.status();
  v1::JobSpec other = FakeJob({"conv", "dense"}, 20);
  const auto& refused = Submit("a", other);
  const auto& again = Submit("a", spec);
  RunAll();
  EXPECT_TRUE(absl::IsAlreadyExists(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("\"a\" is that of job 1"));
  EXPECT_EQ(store_->Jobs()->size(), 1u);
  EXPECT_TRUE(absl::IsNotFound(store_->GetTask(2).status())) << "nothing of it is stored";
  EXPECT_EQ(again->id, first->id);
  submitter_.name = "eve";
  const auto& hers = Submit("a", spec);
  RunAll();
  EXPECT_TRUE(absl::IsAlreadyExists(hers.status())) << hers.status();
  EXPECT_THAT(std::string(hers.status().message()), HasSubstr("which is ann's"));
  v1::CloneJobRequest clone;
  clone.set_id(first->id);
  clone.set_client_id("b");
  ASSERT_TRUE(Clone(clone).ok());
  clone.set_trials(64);
  EXPECT_TRUE(absl::IsAlreadyExists(Clone(clone).status()));
}

TEST_F(JobDeskTest, WhatAClientWasAskedForIsTheRequestAndNotWhatItMakesOfIt) {
  request_digest_ = std::string(64, '1');
  const auto& first = Submit("a", FakeJob({"conv"}, 20));
  const auto& again = Submit("a", FakeJob({"conv", "measured since"}, 20));
  request_digest_ = std::string(64, '2');
  const auto& refused = Submit("a", FakeJob({"conv"}, 20));
  request_digest_ = "short";
  const auto& bad = Submit("b", FakeJob({"conv"}, 20));
  RunAll();
  EXPECT_EQ(again->id, first->id);
  EXPECT_TRUE(absl::IsAlreadyExists(refused.status())) << refused.status();
  EXPECT_TRUE(absl::IsInvalidArgument(bad.status())) << bad.status();
}

TEST_F(JobDeskTest, ASubmitterWithAQuotaHasSoManyJobsOpen) {
  submitter_.has_quota = true;
  const v1::JobSpec spec = Spec();
  Submit("a", spec);
  const auto& second = Submit("b", spec);
  const auto& third = Submit("c", spec);
  const auto& again = Submit("b", spec);
  RunAll();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(absl::IsResourceExhausted(third.status())) << third.status();
  EXPECT_THAT(std::string(third.status().message()), HasSubstr("has 2 jobs"));
  EXPECT_EQ(again->id, second->id) << "it is there already";
  ASSERT_TRUE(store_->SetJobState(second->id, tuning_db::JobState::kCancelled, "").ok());
  const auto& later = Submit("c", spec);
  RunAll();
  EXPECT_TRUE(later.ok()) << later.status();
}

TEST_F(JobDeskTest, ASubmitterWithAQuotaHasSoManyKernels) {
  submitter_.has_quota = true;
  const v1::JobSpec large = FakeJob({"a", "b", "c", "d"}, 20);
  const auto& refused = Submit("a", large);
  RunAll();
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  EXPECT_TRUE(absl::IsNotFound(store_->GetTask(1).status())) << "a task of a refused job is stored";
  submitter_.has_quota = false;
  const auto& taken = Submit("a", large);
  RunAll();
  EXPECT_TRUE(taken.ok()) << taken.status();
}

TEST_F(JobDeskTest, ASubmitterWithAQuotaHasSoManyBytesOfWorkloads) {
  submitter_.has_quota = true;
  const v1::JobSpec half = FakeJob({std::string(kMostBytes / 2, 'a')}, 20);
  const v1::JobSpec more = FakeJob({std::string(kMostBytes / 2 + 1, 'b')}, 20);
  const auto& first = Submit("a", half);
  const auto& refused = Submit("b", more);
  RunAll();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("1001 bytes, and may have 1000"));
  // The same kernels once more are as many bytes once more, also in a clone.
  v1::CloneJobRequest request;
  request.set_id(first->id);
  request.set_client_id("c");
  absl::StatusOr<tuning_db::Job> clone = absl::UnknownError("no answer");
  desk_->Clone(request, submitter_, [&](absl::StatusOr<tuning_db::Job> job) { clone = job; });
  RunAll();
  EXPECT_TRUE(clone.ok()) << clone.status();
  ASSERT_TRUE(store_->SetJobState(clone->id, tuning_db::JobState::kCancelled, "").ok());
  ASSERT_TRUE(store_->SetJobState(first->id, tuning_db::JobState::kCancelled, "").ok());
  const auto& later = Submit("b", more);
  RunAll();
  EXPECT_TRUE(later.ok()) << later.status();
}

}  // namespace
}  // namespace hone::tuner
