// What clients of honed rely on, over its socket.
#include "tuner/service/daemon.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "hone/v1/farm.grpc.pb.h"
#include "hone/v1/log.grpc.pb.h"
#include "hone/v1/tuning.grpc.pb.h"
#include "support/child_process.h"
#include "support/daemon_address.h"
#include "support/digest.h"
#include "support/user_name.h"
#include "tests/tuner/fakes.h"
#include "tests/tuner/grpc_worker.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ThreadedFakeBuilder : public FakeBuilder {
 public:
  ThreadedFakeBuilder() : FakeBuilder(&thread_) {}

 private:
  ThreadExecutor thread_;
};

class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest() : folder_(fs::temp_directory_path() / ("hone-daemon-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    StartDaemon();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
    const auto channel = grpc::CreateCustomChannel(daemon_->address(),
                                                   grpc::InsecureChannelCredentials(), arguments);
    tuning_ = v1::TuningService::NewStub(channel);
    farm_ = v1::FarmService::NewStub(channel);
    log_ = v1::LogService::NewStub(channel);
  }
  ~DaemonTest() override {
    if (worker_) worker_->Stop();
    daemon_.reset();
    if (thread_.joinable()) thread_.join();
    fs::remove_all(folder_);
  }

  void StartDaemon() {
    DaemonOptions options;
    options.socket = (folder_ / "socket").string();
    options.client = client_;
    DaemonParts parts;
    parts.store = store_.get();
    parts.lowerer = &lowerer_;
    parts.builder = std::make_unique<ThreadedFakeBuilder>();
    parts.search = [this](const std::string& name) { return name == "fake" ? &search_ : nullptr; };
    parts.clock = &Clock::Real();
    daemon_ = Daemon::Start(std::move(options), std::move(parts)).value();
  }
  void StartWorker() {
    worker_ = std::make_unique<GrpcWorker>("w", daemon_->address(), 0);
    thread_ = std::thread([this] { worker_->Run(); });
  }

  static v1::SubmitJobRequest Request(const std::string& client_id, int64_t trials = 20) {
    v1::SubmitJobRequest request;
    request.set_client_id(client_id);
    v1::JobSpec& spec = *request.mutable_spec();
    spec.set_target(kFakeTarget);
    spec.set_trials(trials);
    spec.set_search("fake");
    v1::TaskSpec& task = *spec.add_tasks();
    task.set_workload("conv");
    task.set_signature("NC->NC");
    task.set_name("conv kernel");
    return request;
  }
  grpc::Status Submit(const v1::SubmitJobRequest& request, v1::JobInfo* job) {
    grpc::ClientContext context;
    v1::SubmitJobResponse response;
    const grpc::Status status = tuning_->SubmitJob(&context, request, &response);
    *job = response.job();
    return status;
  }
  // At most `limit` events (0: to the end).
  std::vector<v1::WatchJobResponse> Watch(int64_t job, int64_t after, size_t limit = 0) {
    grpc::ClientContext context;
    v1::WatchJobRequest request;
    request.set_id(job);
    request.set_after_seq(after);
    request.set_changes_only(changes_only_);
    const auto stream = tuning_->WatchJob(&context, request);
    std::vector<v1::WatchJobResponse> events;
    v1::WatchJobResponse event;
    while ((limit == 0 || events.size() < limit) && stream->Read(&event)) events.push_back(event);
    if (limit != 0) context.TryCancel();
    watched_ = stream->Finish();
    return events;
  }

  const fs::path folder_;
  std::unique_ptr<tuning_db::Store> store_ = tuning_db::MakeMemoryStore();
  FakeLowerer lowerer_;
  FakeSearch search_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<GrpcWorker> worker_;
  std::thread thread_;
  std::unique_ptr<v1::TuningService::Stub> tuning_;
  std::unique_ptr<v1::FarmService::Stub> farm_;
  std::unique_ptr<v1::LogService::Stub> log_;
  grpc::Status watched_;
  bool changes_only_ = false;
  pid_t client_ = 0;  // of the next daemon
};

TEST_F(DaemonTest, AWatchOfChangesGetsATaskOnlyWhenItChanged) {
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

TEST_F(DaemonTest, TunesAJobAndReportsItsProgress) {
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

TEST_F(DaemonTest, CallsAKernelTunedAfterSixtyFourTrialsAndAFinal) {
  StartWorker();
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("a", 64), &job).ok());
  EXPECT_EQ(Watch(job.id(), 0).back().job().tasks(0).tier(), "tuned");
  grpc::ClientContext context;
  v1::GetConfigsRequest request;
  request.set_target(kFakeTarget);
  for (const char* workload : {"conv", "never seen"}) {
    v1::ConfigKey& key = *request.add_keys();
    key.set_workload_digest(Sha256Hex(workload));
    key.set_signature("NC->NC");
  }
  v1::GetConfigsResponse response;
  ASSERT_TRUE(tuning_->GetConfigs(&context, request, &response).ok());
  ASSERT_EQ(response.configs_size(), 2);
  EXPECT_EQ(response.configs(0).tier(), "tuned");
  EXPECT_GE(response.configs(0).ratio_to_default(), 1);
  EXPECT_EQ(response.configs(1).tier(), "");
}

TEST_F(DaemonTest, AnswersWithTheConfigsOfCompatibleTargets) {
  StartWorker();
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("a"), &job).ok());
  (void)Watch(job.id(), 0);
  v1::GetConfigsRequest request;
  v1::ConfigKey& key = *request.add_keys();
  key.set_workload_digest(Sha256Hex("conv"));
  key.set_signature("NC->NC");
  const auto tier_on = [&](const std::string& target) {
    grpc::ClientContext context;
    v1::GetConfigsResponse response;
    request.set_target(target);
    EXPECT_TRUE(tuning_->GetConfigs(&context, request, &response).ok());
    return response.configs(0).tier();
  };
  EXPECT_EQ(tier_on(kFakeTarget), "tuning");
  EXPECT_EQ(tier_on("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -threads=1"), "compatible");
  EXPECT_EQ(tier_on("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -threads=2"), "");
}

// Clients that know of no toolchains keep the last cost of a config.
TEST_F(DaemonTest, AnswersWithTheCalibrationOfTheNewestToolchainLast) {
  tuning_db::Task task;
  task.workload = "tiles";
  task.workload_digest = Sha256Hex(task.workload);
  task.target = kFakeTarget;
  tuning_db::Trial trial;
  trial.task = store_->EnsureTask(task).value();
  trial.signature = "NC->NC";
  trial.config = trial.config_digest = "a config";
  trial.purpose = tuning_db::Purpose::kCalibrate;
  for (const int64_t age : {0, 2, 1}) {
    tuning_db::Record record;
    record.median_ns = static_cast<double>(1000 + age);
    record.calibrator_ns = 1;
    record.toolchain = "llvm " + std::to_string(20 - age);
    record.wall_time_ns = 100 - age;
    trial.round = age;
    store_->Import(trial, record).value();
  }
  grpc::ClientContext context;
  v1::GetConfigsRequest request;
  request.set_target(kFakeTarget);
  v1::ConfigKey& key = *request.add_calibrations();
  key.set_workload_digest(task.workload_digest);
  key.set_signature(trial.signature);
  v1::GetConfigsResponse response;
  ASSERT_TRUE(tuning_->GetConfigs(&context, request, &response).ok());
  ASSERT_EQ(response.calibrations_size(), 1);
  std::vector<std::string> toolchains;
  for (const v1::ConfigCost& cost : response.calibrations(0).costs()) {
    toolchains.push_back(cost.toolchain());
  }
  EXPECT_THAT(toolchains, testing::ElementsAre("llvm 18", "llvm 19", "llvm 20"));
}

TEST_F(DaemonTest, TakesAJobOfTwoThousandKernels) {
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

TEST_F(DaemonTest, TellsToolsWhatItServes) {
  const auto channel = grpc::CreateChannel(daemon_->address(), grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const std::string method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  const grpc::ByteBuffer empty(nullptr, 0);
  const auto call = stub.PrepareUnaryCall(&context, method, empty, &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool is_ok = false;
  ASSERT_TRUE(queue.Next(&tag, &is_ok));
  EXPECT_NE(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
}

// A builder whose requests take a while to hand over.
class SlowBuilder : public ThreadedFakeBuilder {
 public:
  explicit SlowBuilder(std::promise<void>* entered) : entered_(entered) {}
  ~SlowBuilder() override { EXPECT_FALSE(is_inside_) << "destroyed while it is used"; }
  void Build(const v1::BuildBatch& batch, BuildCallback done) override {
    is_inside_ = true;
    if (!was_entered_.exchange(true)) entered_->set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ThreadedFakeBuilder::Build(batch, std::move(done));
    is_inside_ = false;
  }

 private:
  std::promise<void>* const entered_;
  std::atomic<bool> is_inside_ = false;
  std::atomic<bool> was_entered_ = false;
};

TEST_F(DaemonTest, StopsWhileTheLoopHandsRequestsToTheBuilder) {
  std::promise<void> entered;
  daemon_.reset();
  DaemonOptions options;
  options.socket = (folder_ / "socket").string();
  DaemonParts parts;
  parts.store = store_.get();
  parts.lowerer = &lowerer_;
  parts.builder = std::make_unique<SlowBuilder>(&entered);
  parts.search = [this](const std::string&) { return &search_; };
  parts.clock = &Clock::Real();
  daemon_ = Daemon::Start(std::move(options), std::move(parts)).value();
  v1::JobInfo job;
  grpc::Status status;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do {
    status = Submit(Request("a"), &job);  // the channel dials again
  } while (!status.ok() && std::chrono::steady_clock::now() < end);
  ASSERT_TRUE(status.ok());
  StartWorker();  // without a device nothing is built
  ASSERT_EQ(entered.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  daemon_.reset();
}

TEST_F(DaemonTest, SubmitsAJobOnceHoweverOftenItIsAsked) {
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

TEST_F(DaemonTest, AJobIsOfWhoDialledAndOfTheDaemonsEpoch) {
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

TEST_F(DaemonTest, ConcurrentSubmissionsOfOneClientIdMakeOneJob) {
  std::vector<v1::JobInfo> jobs(8);
  std::vector<std::thread> clients;
  for (v1::JobInfo& job : jobs) {
    clients.emplace_back([&] { EXPECT_TRUE(Submit(Request("same"), &job).ok()); });
  }
  for (std::thread& client : clients) client.join();
  for (const v1::JobInfo& job : jobs) EXPECT_EQ(job.id(), jobs[0].id());
  EXPECT_EQ(store_->Jobs()->size(), 1u);
}

TEST_F(DaemonTest, PausesResumesAndClonesJobsAndTellsWhoWatches) {
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

TEST_F(DaemonTest, ListsJobsByStateAndSubmitterInPages) {
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

TEST_F(DaemonTest, ResumesAWatchAfterTheLastEventSeen) {
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

TEST_F(DaemonTest, CancelsAJob) {
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

TEST_F(DaemonTest, SaysWhatIsWrongWithARequest) {
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
  EXPECT_THAT(Submit(request, &job).error_message(), HasSubstr("at least one trial"));
  EXPECT_EQ(Submit(Request(""), &job).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request = Request("a");
  request.mutable_spec()->clear_target();
  EXPECT_THAT(Submit(request, &job).error_message(), HasSubstr("no worker is connected"));
  (void)Watch(77, 0);
  EXPECT_EQ(watched_.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(DaemonTest, TakesTheFarmsOnlyTargetWhereAJobNamesNone) {
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

TEST_F(DaemonTest, ListsTheLogNewestFirstInPages) {
  StartWorker();
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("a"), &job).ok());
  (void)Watch(job.id(), 0);
  std::vector<int64_t> ids;
  v1::ListRecordsRequest request;
  request.set_page_size(6);
  do {
    grpc::ClientContext context;
    v1::ListRecordsResponse response;
    ASSERT_TRUE(log_->ListRecords(&context, request, &response).ok());
    for (const v1::RecordInfo& record : response.records()) {
      ids.push_back(record.id());
      EXPECT_EQ(record.workload(), "conv");
      EXPECT_EQ(record.job(), job.id());
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(ids.size(), 21u);
  EXPECT_TRUE(std::is_sorted(ids.rbegin(), ids.rend()));
  request.set_page_token("nonsense");
  grpc::ClientContext context;
  v1::ListRecordsResponse response;
  EXPECT_EQ(log_->ListRecords(&context, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(DaemonTest, ListsAndDrainsWorkers) {
  StartWorker();
  v1::ListWorkersResponse workers;
  while (workers.workers().empty()) {
    grpc::ClientContext context;
    ASSERT_TRUE(farm_->ListWorkers(&context, {}, &workers).ok());
  }
  EXPECT_EQ(workers.workers(0).worker(), "w");
  grpc::ClientContext context;
  v1::DrainWorkerRequest request;
  request.set_worker("w");
  v1::DrainWorkerResponse response;
  EXPECT_TRUE(farm_->DrainWorker(&context, request, &response).ok());
}

TEST_F(DaemonTest, APrivateDaemonServesItsClientAndCancelsItsJobsOnItsWayOut) {
  v1::JobInfo of_service;
  ASSERT_TRUE(Submit(Request("service"), &of_service).ok());
  daemon_.reset();
  client_ = getpid();
  StartDaemon();
  v1::JobInfo job;
  ASSERT_TRUE(Submit(Request("own"), &job).ok());
  EXPECT_TRUE(job.is_private());
  daemon_.reset();
  EXPECT_EQ(store_->GetJob(job.id())->state, tuning_db::JobState::kCancelled);
  EXPECT_EQ(store_->GetJob(job.id())->message, "its hone tune has ended");
  const tuning_db::Job left = store_->GetJob(of_service.id()).value();
  EXPECT_FALSE(HasEnded(left.state));
  EXPECT_FALSE(left.is_private);
}

TEST_F(DaemonTest, APrivateDaemonTellsStrangersWhoseItIs) {
  daemon_.reset();
  ChildProcess client = ChildProcess::Start({"/bin/sleep", "60"}).value();
  client_ = client.pid();
  StartDaemon();
  v1::JobInfo job;
  const grpc::Status refused = Submit(Request("a"), &job);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("process " + std::to_string(client_)));
  grpc::ClientContext context;
  const auto stream = farm_->Work(&context);
  v1::WorkResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  daemon_.reset();
  EXPECT_TRUE(store_->Jobs()->empty());
}

TEST_F(DaemonTest, LetsNobodyElseDial) {
  struct stat info = {};
  ASSERT_EQ(stat((folder_ / "socket").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  DaemonOptions options;
  options.socket = (folder_ / "socket").string();
  DaemonParts parts;
  EXPECT_EQ(Daemon::Start(options, std::move(parts)).status().code(),
            absl::StatusCode::kUnavailable);
  const fs::path link = folder_.string() + "-link";
  fs::create_directory_symlink(folder_, link);
  options.socket = (link / "other").string();
  EXPECT_EQ(Daemon::Start(options, DaemonParts()).status().code(),
            absl::StatusCode::kInvalidArgument)
      << "whoever made the link may lead it elsewhere";
  fs::remove(link);
  fs::permissions(folder_, fs::perms::all);
  options.socket = (folder_ / "other").string();
  EXPECT_EQ(Daemon::Start(options, DaemonParts()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hone::tuner
