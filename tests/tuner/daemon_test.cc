// What clients of honed rely on, over its socket; daemon_jobs_test.cc has what they do with jobs.
#include "tuner/service/daemon.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/child_process.h"
#include "support/digest.h"
#include "tests/tuner/daemon_fixture.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;
namespace fs = std::filesystem;
using ::testing::HasSubstr;
using DaemonTest = DaemonFixture;

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
  StartDaemon(std::make_unique<SlowBuilder>(&entered));
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

TEST_F(DaemonTest, AQuarantineByHandOutlivesTheDaemon) {
  v1::QuarantineWorkerRequest request;
  request.set_worker("w");
  request.set_reason("a new fan");
  v1::QuarantineWorkerResponse put;
  grpc::ClientContext of_put;
  ASSERT_TRUE(farm_->QuarantineWorker(&of_put, request, &put).ok());
  EXPECT_FALSE(put.quarantine().by().empty());
  EXPECT_GT(put.quarantine().at_ns(), 0);
  daemon_.reset();
  StartDaemon();
  StartWorker();
  v1::ListWorkersResponse workers;
  while (workers.workers().empty()) {
    grpc::ClientContext context;
    ASSERT_TRUE(farm_->ListWorkers(&context, {}, &workers).ok());
  }
  ASSERT_EQ(workers.workers(0).quarantines_size(), 1);
  EXPECT_EQ(workers.workers(0).quarantines(0).SerializeAsString(),
            put.quarantine().SerializeAsString());
  grpc::ClientContext of_release;
  v1::ReleaseWorkerRequest release;
  release.set_worker("w");
  v1::ReleaseWorkerResponse released;
  ASSERT_TRUE(farm_->ReleaseWorker(&of_release, release, &released).ok());
  EXPECT_EQ(released.ended_size(), 1);
  grpc::ClientContext again;
  EXPECT_EQ(farm_->ReleaseWorker(&again, release, &released).error_code(),
            grpc::StatusCode::NOT_FOUND);
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
