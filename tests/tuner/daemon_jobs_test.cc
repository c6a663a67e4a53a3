// What clients of honed rely on for their jobs: submit, pause, clone, list, cancel and watch.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/user_name.h"
#include "tests/tuner/daemon_fixture.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
using ::testing::HasSubstr;
using DaemonJobsTest = DaemonFixture;

TEST_F(DaemonJobsTest, AWatchOfChangesGetsATaskOnlyWhenItChanged) {
  StartWorker();
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("a"), &job).ok());
  changes_only_ = true;
  const auto live = Watch(job.id(), 0);
  std::string last;
  for (const v1::WatchJobResponse& event : live) {
    for (const v1::TaskProgress& task : event.job().tasks()) {
      EXPECT_NE(task.SerializeAsString(), last);
      last = task.SerializeAsString();
    }
  }
  const auto after_its_end = Watch(job.id(), 0);
  ASSERT_EQ(after_its_end.size(), live.size());
  EXPECT_EQ(after_its_end.front().job().tasks(0).SerializeAsString(), last);
  for (size_t i = 1; i < after_its_end.size(); ++i) {
    EXPECT_TRUE(after_its_end[i].job().tasks().empty());
  }
}

TEST_F(DaemonJobsTest, TunesAJobAndReportsItsProgress) {
  StartWorker();
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("a"), &job).ok());
  const auto events = Watch(job.id(), 0);
  EXPECT_TRUE(watched_.ok());
  ASSERT_FALSE(events.empty());
  for (size_t i = 0; i < events.size(); ++i)
    EXPECT_EQ(events[i].seq(), static_cast<int64_t>(i) + 1);
  const v1::JobInfo& end = events.back().job();
  EXPECT_EQ(end.state(), v1::JOB_STATE_DONE);
  ASSERT_EQ(end.tasks_size(), 1);
  const v1::TaskProgress& progress = end.tasks(0);
  EXPECT_EQ(progress.name(), "conv kernel");
  EXPECT_EQ(progress.trials(), 20);
  EXPECT_EQ(progress.total_trials(), 20);
  EXPECT_GT(progress.failures(), 0);
  EXPECT_GT(progress.default_ns(), 0);
  EXPECT_LE(progress.best_ns(), progress.default_ns());
  EXPECT_EQ(progress.tier(), "tuning") << "20 trials are too few for `tuned`";
}

TEST_F(DaemonJobsTest, ReadsEachKernelOfAJobOnce) {
  v1::SubmitJobRequest request = Request("a");
  *request.mutable_spec()->add_tasks() = request.spec().tasks(0);
  request.mutable_spec()->mutable_tasks(1)->set_workload("dense");
  v1::JobInfo job;
  ASSERT_TRUE(Submit(request, &job).ok());
  ASSERT_EQ(Watch(job.id(), 0, 1).size(), 1u) << "it runs";
  EXPECT_EQ(lowerer_.opened, 2);
}

TEST_F(DaemonJobsTest, TakesAJobOfTwoThousandKernels) {
  constexpr int kTasks = 2000;
  v1::SubmitJobRequest request = Request("big");
  request.mutable_spec()->clear_tasks();
  for (int i = 0; i < kTasks; ++i) {
    v1::TaskSpec& task = *request.mutable_spec()->add_tasks();
    task.set_workload(std::to_string(i) + std::string(5000, 'x'));
    task.set_signature("NC->NC");
    task.set_name("kernel " + std::to_string(i));
    task.set_weight(2);
  }
  v1::JobInfo job;
  const grpc::Status submitted = Submit(request, &job);
  ASSERT_TRUE(submitted.ok()) << submitted.error_message();
  EXPECT_EQ(job.spec().tasks_size(), 0) << "who submits it knows them";

  grpc::ClientContext of_get;
  v1::GetJobRequest get;
  get.set_id(job.id());
  v1::GetJobResponse got;
  ASSERT_TRUE(tuning_->GetJob(&of_get, get, &got).ok());
  ASSERT_EQ(got.job().spec().tasks_size(), kTasks);
  EXPECT_EQ(got.job().spec().tasks(7).workload(), request.spec().tasks(7).workload());

  grpc::ClientContext of_list;
  v1::ListJobsResponse list;
  ASSERT_TRUE(tuning_->ListJobs(&of_list, {}, &list).ok());
  EXPECT_EQ(list.jobs(0).spec().tasks_size(), 0);
  EXPECT_EQ(list.jobs(0).tasks_size(), kTasks);
  const auto events = Watch(job.id(), 0, 1);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].job().spec().tasks_size(), 0);
  EXPECT_EQ(events[0].job().tasks(7).weight(), 2);
}

TEST_F(DaemonJobsTest, SubmitsAJobOnceHoweverOftenItIsAsked) {
  v1::JobInfo first;
  v1::JobInfo second;
  ASSERT_TRUE(Submit(Request("same"), &first).ok());
  ASSERT_TRUE(Submit(Request("same"), &second).ok());
  EXPECT_EQ(first.id(), second.id());
  grpc::ClientContext context;
  v1::ListJobsResponse response;
  ASSERT_TRUE(tuning_->ListJobs(&context, {}, &response).ok());
  EXPECT_EQ(response.jobs_size(), 1);
}

TEST_F(DaemonJobsTest, AJobIsOfWhoDialledAndOfTheDaemonsEpoch) {
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("a"), &job).ok());
  EXPECT_EQ(job.submitter(), UserName(geteuid()));
  EXPECT_THAT(job.owner(), ::testing::StartsWith(daemon_->address()));
  EXPECT_GT(job.epoch(), 1);
  daemon_.reset();
  StartDaemon();
  const tuning_db::Job taken = store_->GetJob(job.id()).value();
  EXPECT_GT(taken.epoch, job.epoch()) << "a new life has taken it";
  EXPECT_EQ(taken.submitter, job.submitter());
  v1::JobInfo again;
  ASSERT_TRUE(Submit(Request("a"), &again).ok());
  EXPECT_EQ(again.id(), job.id()) << "also over a restart";
}

TEST_F(DaemonJobsTest, ConcurrentSubmissionsOfOneClientIdMakeOneJob) {
  std::vector<v1::JobInfo> jobs(8);
  std::vector<std::thread> clients;
  for (v1::JobInfo& job : jobs) {
    clients.emplace_back([&] { EXPECT_TRUE(Submit(Request("same"), &job).ok()); });
  }
  for (std::thread& client : clients) client.join();
  for (const v1::JobInfo& job : jobs) EXPECT_EQ(job.id(), jobs[0].id());
  EXPECT_EQ(store_->Jobs()->size(), 1u);
}

TEST_F(DaemonJobsTest, PausesResumesAndClonesJobsAndTellsWhoWatches) {
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("a"), &job).ok());
  v1::PauseJobRequest pause;
  pause.set_id(job.id());
  v1::PauseJobResponse paused;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(tuning_->PauseJob(&context, pause, &paused).ok());
  }
  EXPECT_EQ(paused.job().state(), v1::JOB_STATE_PAUSED);
  StartWorker();

  v1::CloneJobRequest clone;
  clone.set_id(job.id());
  clone.set_client_id("b");
  clone.set_trials(4);
  v1::CloneJobResponse cloned;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(tuning_->CloneJob(&context, clone, &cloned).ok());
  }
  EXPECT_EQ(cloned.job().spec().trials(), 4);
  EXPECT_EQ(Watch(cloned.job().id(), 0).back().job().state(), v1::JOB_STATE_DONE)
      << "the paused job holds up nobody";
  EXPECT_EQ(store_->GetJob(job.id())->state, tuning_db::JobState::kPaused);

  v1::ResumeJobRequest resume;
  resume.set_id(job.id());
  v1::ResumeJobResponse resumed;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(tuning_->ResumeJob(&context, resume, &resumed).ok());
  }
  const auto events = Watch(job.id(), 0);
  std::string states;
  for (const v1::WatchJobResponse& event : events) {
    if (event.kind() == "state") states += event.payload();
  }
  EXPECT_THAT(states, HasSubstr("paused"));
  EXPECT_THAT(states, HasSubstr("resumed"));
  EXPECT_EQ(events.back().job().state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(events.back().kind(), "state");
  grpc::ClientContext context;
  EXPECT_EQ(tuning_->PauseJob(&context, pause, &paused).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(DaemonJobsTest, ListsJobsByStateAndSubmitterInPages) {
  v1::JobInfo job;
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(Submit(Request(id), &job).ok());
  ASSERT_TRUE(store_->SetJobState(2, tuning_db::JobState::kCancelled, "").ok());
  const auto list = [&](v1::ListJobsRequest request) {
    std::string found;
    do {
      grpc::ClientContext context;
      v1::ListJobsResponse page;
      const grpc::Status status = tuning_->ListJobs(&context, request, &page);
      EXPECT_TRUE(status.ok()) << status.error_message();
      for (const v1::JobInfo& info : page.jobs()) found += info.client_id();
      EXPECT_LE(page.jobs_size(), 1);
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return found;
  };
  v1::ListJobsRequest request;
  request.set_page_size(1);
  EXPECT_EQ(list(request), "abc");
  request.set_newest_first(true);
  EXPECT_EQ(list(request), "cba");
  request.add_states(v1::JOB_STATE_RUNNING);
  request.add_states(v1::JOB_STATE_QUEUED);
  EXPECT_EQ(list(request), "ca");
  request.set_submitter(UserName(geteuid()));
  EXPECT_EQ(list(request), "ca");
  request.set_submitter("nobody else");
  EXPECT_EQ(list(request), "");
  request.add_states(v1::JOB_STATE_UNSPECIFIED);
  grpc::ClientContext context;
  v1::ListJobsResponse page;
  EXPECT_EQ(tuning_->ListJobs(&context, request, &page).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(DaemonJobsTest, ResumesAWatchAfterTheLastEventSeen) {
  StartWorker();
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("a"), &job).ok());
  const auto first = Watch(job.id(), 0, 5);
  ASSERT_EQ(first.size(), 5u);
  const auto rest = Watch(job.id(), 5);
  ASSERT_FALSE(rest.empty());
  EXPECT_EQ(rest.front().seq(), 6);
  EXPECT_EQ(rest.back().job().state(), v1::JOB_STATE_DONE);
}

TEST_F(DaemonJobsTest, CancelsAJob) {
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("a"), &job).ok());  // without a worker it would wait for ever
  grpc::ClientContext context;
  v1::CancelJobRequest request;
  request.set_id(job.id());
  v1::CancelJobResponse response;
  ASSERT_TRUE(tuning_->CancelJob(&context, request, &response).ok());
  EXPECT_EQ(response.job().state(), v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(Watch(job.id(), 0).back().job().state(), v1::JOB_STATE_CANCELLED);
  EXPECT_TRUE(watched_.ok());
}

TEST_F(DaemonJobsTest, SaysWhatIsWrongWithARequest) {
  v1::JobInfo job;
  v1::SubmitJobRequest request = Request("a");
  request.mutable_spec()->mutable_tasks(0)->set_workload("bad text");
  grpc::Status status = Submit(request, &job);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("kernel conv kernel"));
  request = Request("a");
  request.mutable_spec()->set_search("magic");
  EXPECT_THAT(Submit(request, &job).error_message(), HasSubstr("\"magic\""));
  request = Request("a", 0);
  EXPECT_THAT(Submit(request, &job).error_message(), HasSubstr("a budget of 1 to"));
  EXPECT_EQ(Submit(Request(""), &job).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request = Request("a");
  request.mutable_spec()->clear_target();
  EXPECT_THAT(Submit(request, &job).error_message(), HasSubstr("no worker is connected"));
  (void)Watch(77, 0);
  EXPECT_EQ(watched_.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(DaemonJobsTest, TakesTheFarmsOnlyTargetWhereAJobNamesNone) {
  StartWorker();
  v1::SubmitJobRequest request = Request("a");
  request.mutable_spec()->clear_target();
  v1::JobInfo job;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!Submit(request, &job).ok() && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();  // until the worker has joined
  }
  EXPECT_EQ(job.spec().target(), kFakeTarget);
}

}  // namespace
}  // namespace hone::tuner
