// Tasks, jobs and their events.
#include <algorithm>
#include <thread>

#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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
  EXPECT_TRUE(read.ends_early);
  EXPECT_EQ(read.elsewhere_ns, 2.5e6);
  EXPECT_EQ(read.submitter, "uid:1000");
  EXPECT_EQ(read.owner, "honed@host");
  EXPECT_EQ(read.epoch, 4'000'000);
  EXPECT_FALSE(read.is_private);
  EXPECT_EQ(read.state, JobState::kQueued);
  ASSERT_THAT(read.tasks, SizeIs(1));
  EXPECT_EQ(read.tasks[0].task, task);
  EXPECT_EQ(read.tasks[0].signature, kSignature);
  EXPECT_EQ(read.tasks[0].name, "conv1");
  EXPECT_EQ(read.tasks[0].weight, 2.5);
  EXPECT_EQ(read.tasks[0].trials, 64);
}

TEST_P(Conformance, AJobStaysPrivate) {
  Job wanted = ExampleJob(store_->EnsureTask(ExampleTask()).value());
  wanted.is_private = true;
  const int64_t job = store_->SubmitJob(wanted).value().id;
  Reopen();
  EXPECT_TRUE(store_->GetJob(job)->is_private);
  EXPECT_TRUE(store_->SubmitJob(wanted)->is_private);
}

TEST_P(Conformance, SubmitIsIdempotentByClientId) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const Job first = store_->SubmitJob(ExampleJob(task)).value();
  ASSERT_TRUE(store_->SetJobState(first.id, JobState::kRunning, "at work").ok());
  const Job again = store_->SubmitJob(ExampleJob(task)).value();
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.state, JobState::kRunning);
  EXPECT_EQ(again.message, "at work");
  EXPECT_THAT(store_->Jobs().value(), SizeIs(1));
  EXPECT_TRUE(absl::IsInvalidArgument(store_->SubmitJob(ExampleJob(task, "")).status()));
}

TEST_P(Conformance, AClientIdIsOneRequests) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Job asked = ExampleJob(task, "a");
  asked.request_digest = "1";
  asked.submitter = "ann";
  EXPECT_FALSE(store_->JobOfClient("a").value());
  const Job first = store_->SubmitJob(asked).value();
  EXPECT_EQ(first.request_digest, "1");
  EXPECT_EQ(store_->JobOfClient("a").value()->id, first.id);
  EXPECT_EQ(store_->SubmitJob(asked)->id, first.id);
  asked.request_digest = "2";
  EXPECT_TRUE(absl::IsAlreadyExists(store_->SubmitJob(asked).status()));
  asked.request_digest = "1";
  asked.submitter = "eve";
  EXPECT_TRUE(absl::IsAlreadyExists(store_->SubmitJob(asked).status()));
  EXPECT_THAT(store_->Jobs().value(), SizeIs(1));
  const Job old = store_->SubmitJob(ExampleJob(task, "b")).value();
  Job again = ExampleJob(task, "b");
  again.request_digest = "3";
  EXPECT_EQ(store_->SubmitJob(again)->id, old.id) << "what an older version was asked is unknown";
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
  for (const Order order : {Order::kOldestFirst, Order::kNewestFirst}) {
    std::vector<std::string> clients;
    std::string cursor;
    for (JobPage page; !page.is_last; cursor = page.next) {
      page = store_->ListJobs({}, order, cursor, 1).value();
      ASSERT_THAT(page.jobs, SizeIs(1));
      EXPECT_THAT(page.jobs[0].tasks, SizeIs(1));
      clients.push_back(page.jobs[0].client_id);
    }
    if (order == Order::kNewestFirst) std::ranges::reverse(clients);
    EXPECT_THAT(clients, ElementsAre("a", "b", "c"));
    EXPECT_THAT(store_->ListJobs({}, order, cursor, 1)->jobs, IsEmpty());
  }
  const std::string of_oldest = store_->ListJobs({}, Order::kOldestFirst, "", 1)->next;
  for (const std::string& bad : {of_oldest, std::string("7"), std::string("n-1")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store_->ListJobs({}, Order::kNewestFirst, bad, 1).status()))
        << bad;
  }
}

TEST_P(Conformance, JobsAreFoundByStateAndSubmitter) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto submit = [&](const char* client, const char* submitter) {
    Job job = ExampleJob(task, client);
    job.submitter = submitter;
    return store_->SubmitJob(job).value().id;
  };
  submit("a", "ann");
  const int64_t b = submit("b", "ben");
  const int64_t c = submit("c", "ann");
  ASSERT_TRUE(store_->SetJobState(b, JobState::kRunning, "").ok());
  ASSERT_TRUE(store_->SetJobState(c, JobState::kPaused, "").ok());
  const auto clients = [&](const JobFilter& filter) {
    std::string found;
    const JobPage page = store_->ListJobs(filter, Order::kNewestFirst, "", 0).value();
    for (const Job& job : page.jobs) found += job.client_id;
    EXPECT_TRUE(page.is_last);
    return found;
  };
  EXPECT_EQ(clients({}), "cba");
  EXPECT_EQ(clients({.states = {JobState::kRunning, JobState::kQueued}}), "ba");
  EXPECT_EQ(clients({.states = {JobState::kPaused}}), "c");
  EXPECT_EQ(clients({.states = {JobState::kDone}}), "");
  EXPECT_EQ(clients({.submitter = "ann"}), "ca");
  EXPECT_EQ(clients({.states = {JobState::kQueued}, .submitter = "ann"}), "a");
  EXPECT_EQ(clients({.submitter = "an"}), "");
}

TEST_P(Conformance, JobsAreFoundByTargetModelAndTime) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto submit = [&](const char* client, const char* target, const char* model) {
    Job job = ExampleJob(task, client);
    job.target = target;
    job.model = model;
    return store_->SubmitJob(job).value();
  };
  const Job a = submit("a", "llvm -mcpu=znver5", "resnet50.onnx");
  submit("b", "llvm -mcpu=znver4", "bert.onnx");
  const auto clients = [&](const JobFilter& filter) {
    std::string found;
    const JobPage page = store_->ListJobs(filter, Order::kNewestFirst, "", 0).value();
    for (const Job& job : page.jobs) found += job.client_id;
    return found;
  };
  EXPECT_EQ(clients({.target = "znver5"}), "a");
  EXPECT_EQ(clients({.target = "-mcpu=znver"}), "ba");
  EXPECT_EQ(clients({.target = "%"}), "") << "no pattern";
  EXPECT_EQ(clients({.model = "bert"}), "b");
  EXPECT_EQ(clients({.target = "znver5", .model = "bert"}), "");
  EXPECT_GT(a.submitted_at_ns, 0);
  EXPECT_EQ(clients({.submitted_since_ns = a.submitted_at_ns}), "ba");
  EXPECT_EQ(clients({.submitted_since_ns = a.submitted_at_ns + 3'600'000'000'000}), "");
}

TEST_P(Conformance, AJobKeepsWhichDevicesItWants) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  Job job = ExampleJob(task, "a");
  job.sandbox = 3;
  job.device_class = "name=znver5";
  const Job read = store_->GetJob(store_->SubmitJob(job).value().id).value();
  EXPECT_EQ(read.sandbox, 3);
  EXPECT_EQ(read.device_class, "name=znver5");
}

TEST_P(Conformance, APausedJobHasNotEnded) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  ASSERT_TRUE(store_->SetJobState(job, JobState::kRunning, "").ok());
  ASSERT_TRUE(store_->SetJobRan(job, 5).ok());
  ASSERT_TRUE(store_->SetJobState(job, JobState::kPaused, "paused").ok());
  Reopen();
  EXPECT_EQ(store_->GetJob(job)->state, JobState::kPaused);
  EXPECT_EQ(store_->GetJob(job)->ran_ns, 5);
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->SetJobRan(job, 6))) << "it spends no time";
  EXPECT_TRUE(store_->AppendEvent(job, "note", "{}").ok());
  const Ownership owner = store_->BeginEpoch("daemon", int64_t{1} << 40).value();
  EXPECT_THAT(store_->TakeJobs(owner, int64_t{1} << 40).value(), SizeIs(1)) << "to stay paused";
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->SetJobState(owner, job, JobState::kRunning, "")))
      << "who starts it read that it was queued, and somebody paused it meanwhile";
  ASSERT_TRUE(store_->SetJobState(owner, job, JobState::kQueued, "resumed").ok());
  EXPECT_EQ(store_->GetJob(job)->state, JobState::kQueued);
  ASSERT_TRUE(store_->SetJobState(owner, job, JobState::kPaused, "").ok());
  ASSERT_TRUE(store_->SetJobState(owner, job, JobState::kCancelled, "").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->SetJobState(job, JobState::kPaused, "")));
  const auto events = store_->ListEvents(job, 0, 0).value();
  EXPECT_THAT(events.back().payload, HasSubstr("cancelled"));
  EXPECT_EQ(events.back().kind, "state");
}

TEST_P(Conformance, ConcurrentSubmitsOfOneClientIdMakeOneJob) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  std::vector<int64_t> ids(8);
  std::vector<std::thread> clients;
  for (int64_t& id : ids) {
    clients.emplace_back([&] { id = store_->SubmitJob(ExampleJob(task)).value().id; });
  }
  for (std::thread& client : clients) client.join();
  Reopen();
  ids.push_back(store_->SubmitJob(ExampleJob(task)).value().id);
  EXPECT_THAT(ids, Each(ids[0]));
  EXPECT_THAT(store_->Jobs().value(), SizeIs(1));
}

TEST_P(Conformance, TasksOfAJobAreInItsOrder) {
  const int64_t first = store_->EnsureTask(ExampleTask(0)).value();
  const int64_t second = store_->EnsureTask(ExampleTask(1)).value();
  Job wanted = ExampleJob(second);
  wanted.tasks.push_back({first, kSignature, "pool", 1, 8});
  wanted.tasks.push_back({second, "NCHW", "conv2", 1, 8});
  const int64_t job = store_->SubmitJob(wanted).value().id;
  const std::vector<Task> tasks = store_->TasksOfJob(job).value();
  ASSERT_THAT(tasks, SizeIs(3));
  EXPECT_EQ(tasks[0].id, second);
  EXPECT_EQ(tasks[0].workload, ExampleTask(1).workload);
  EXPECT_EQ(tasks[1].id, first);
  EXPECT_EQ(tasks[2].id, second);
  EXPECT_TRUE(absl::IsNotFound(store_->TasksOfJob(7).status()));
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

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Conformance);

}  // namespace hone::tuning_db
