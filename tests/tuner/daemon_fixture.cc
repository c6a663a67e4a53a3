#include "tests/tuner/daemon_fixture.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <utility>

#include "tests/tuner/fake_job.h"
#include "transport/dial.h"

namespace hone::tuner {

namespace v1 = hone::v1;
namespace fs = std::filesystem;

DaemonFixture::DaemonFixture()
    : folder_(fs::temp_directory_path() / ("hone-daemon-" + std::to_string(getpid()))) {
  fs::remove_all(folder_);
  StartDaemon();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  const auto channel =
      grpc::CreateCustomChannel(daemon_->address(), grpc::InsecureChannelCredentials(), arguments);
  tuning_ = v1::TuningService::NewStub(channel);
  farm_ = v1::FarmService::NewStub(channel);
  log_ = v1::LogService::NewStub(channel);
}

DaemonFixture::~DaemonFixture() {
  if (worker_) worker_->Stop();
  daemon_.reset();
  if (thread_.joinable()) thread_.join();
  fs::remove_all(folder_);
}

void DaemonFixture::StartDaemon(std::unique_ptr<Builder> builder) {
  DaemonOptions options;
  options.socket = (folder_ / "socket").string();
  options.client = client_;
  options.metrics = metrics_;
  DaemonParts parts;
  parts.store = store_.get();
  parts.lowerer = &lowerer_;
  parts.builder = std::move(builder);
  parts.search = [this](const std::string& name) { return name == "fake" ? &search_ : nullptr; };
  parts.clock = &Clock::Real();
  daemon_ = Daemon::Start(std::move(options), std::move(parts)).value();
}

void DaemonFixture::StartWorker() {
  worker_ = std::make_unique<GrpcWorker>("w", daemon_->address(), 0);
  thread_ = std::thread([this] { worker_->Run(); });
}

v1::SubmitJobRequest DaemonFixture::Request(const std::string& client_id, int64_t trials) {
  v1::SubmitJobRequest request;
  request.set_client_id(client_id);
  *request.mutable_spec() = FakeJob({"conv"}, trials);
  return request;
}

grpc::Status DaemonFixture::Submit(const v1::SubmitJobRequest& request, v1::JobInfo* job) {
  grpc::ClientContext context;
  v1::SubmitJobResponse response;
  const grpc::Status status = tuning_->SubmitJob(&context, request, &response);
  *job = response.job();
  return status;
}

std::vector<v1::WatchJobResponse> DaemonFixture::Watch(int64_t job, int64_t after, size_t limit) {
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

}  // namespace hone::tuner
