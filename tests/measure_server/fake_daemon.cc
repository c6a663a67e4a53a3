#include "tests/measure_server/fake_daemon.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "hone/v1/farm.grpc.pb.h"
#include "support/digest.h"

namespace hone::measure {

namespace v1 = hone::v1;

class FakeDaemon::Service : public v1::FarmService::Service {
 public:
  using Stream = grpc::ServerReaderWriter<v1::WorkResponse, v1::WorkRequest>;

  Service(const std::string& address, uint32_t protocol) : protocol_(protocol) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Service() override {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
  }

  void AddArtifact(const std::string& digest, const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    artifacts_[digest] = bytes;
  }

  std::optional<v1::WorkRequest> Receive() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [this] { return !inbox_.empty(); });
    if (inbox_.empty()) return std::nullopt;
    v1::WorkRequest message = std::move(inbox_.front());
    inbox_.pop_front();
    return message;
  }

  void Send(const v1::WorkResponse& message) {
    const std::lock_guard lock(mutex_);
    if (stream_ != nullptr) stream_->Write(message);
  }

  void Refuse(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    refusal_ = status;
  }
  void BeMute() {
    const std::lock_guard lock(mutex_);
    is_mute_ = true;
  }
  void SetHeartbeats(int64_t interval_ns, int64_t silence_limit_ns) {
    const std::lock_guard lock(mutex_);
    interval_ns_ = interval_ns;
    silence_limit_ns_ = silence_limit_ns;
  }
  int refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

  grpc::Status Work(grpc::ServerContext*, Stream* stream) override {
    {
      const std::lock_guard lock(mutex_);
      if (!refusal_.ok()) {
        ++refused_;
        return refusal_;
      }
      stream_ = stream;
    }
    v1::WorkRequest message;
    while (stream->Read(&message)) Take(message);
    const std::lock_guard lock(mutex_);
    stream_ = nullptr;
    return grpc::Status::OK;
  }

 private:
  const uint32_t protocol_;
  bool is_mute_ = false;
  int64_t interval_ns_ = 1'000'000'000;
  int64_t silence_limit_ns_ = 0;

  void Take(const v1::WorkRequest& message) {
    const std::lock_guard lock(mutex_);
    if (message.has_hello() && !is_mute_) {
      v1::WorkResponse response;
      response.mutable_welcome()->set_protocol(protocol_);
      response.mutable_welcome()->set_heartbeat_interval_ns(interval_ns_);
      response.mutable_welcome()->set_silence_limit_ns(silence_limit_ns_);
      stream_->Write(response);
    }
    if (message.has_fetch()) return SendArtifact(message.fetch().digest());
    if (message.has_heartbeat()) return;
    inbox_.push_back(message);
    changed_.notify_all();
  }

  // In small chunks, so that every artifact takes several.
  void SendArtifact(const std::string& digest) {
    constexpr size_t kChunkBytes = 1000;
    const std::string& bytes = artifacts_[digest];
    for (size_t offset = 0; offset < bytes.size(); offset += kChunkBytes) {
      v1::WorkResponse response;
      v1::ArtifactChunk& chunk = *response.mutable_chunk();
      chunk.set_digest(digest);
      chunk.set_total_bytes(bytes.size());
      chunk.set_offset(offset);
      chunk.set_data(bytes.substr(offset, kChunkBytes));
      stream_->Write(response);
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> artifacts_;
  std::deque<v1::WorkRequest> inbox_;
  Stream* stream_ = nullptr;
  grpc::Status refusal_;
  int refused_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

FakeDaemon::FakeDaemon(const std::string& address, uint32_t protocol)
    : service_(std::make_unique<Service>(address, protocol)) {}

FakeDaemon::~FakeDaemon() = default;

std::string FakeDaemon::AddArtifact(const std::string& bytes) {
  const std::string digest = Sha256Hex(bytes);
  service_->AddArtifact(digest, bytes);
  return digest;
}

std::optional<v1::WorkRequest> FakeDaemon::Receive() { return service_->Receive(); }

void FakeDaemon::Send(const v1::WorkResponse& message) { service_->Send(message); }

void FakeDaemon::Refuse(const absl::Status& status) {
  service_->Refuse({static_cast<grpc::StatusCode>(status.code()), std::string(status.message())});
}

void FakeDaemon::BeMute() { service_->BeMute(); }
void FakeDaemon::SetHeartbeats(int64_t interval_ns, int64_t silence_limit_ns) {
  service_->SetHeartbeats(interval_ns, silence_limit_ns);
}
int FakeDaemon::refused() const { return service_->refused(); }

}  // namespace hone::measure
