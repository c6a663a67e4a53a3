// A daemon that a test drives by hand: a gRPC server on a Unix socket.
#ifndef HONE_TESTS_MEASURE_SERVER_FAKE_DAEMON_H_
#define HONE_TESTS_MEASURE_SERVER_FAKE_DAEMON_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "hone/v1/farm.grpc.pb.h"
#include "support/digest.h"

namespace hone::measure {

// Serves artifacts and welcomes by itself; everything else is the test's to read and to say.
class FakeDaemon : public hone::v1::FarmService::Service {
 public:
  using ServerStream = grpc::ServerReaderWriter<hone::v1::WorkResponse, hone::v1::WorkRequest>;

  explicit FakeDaemon(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeDaemon() override {
    // At once: streams that are up are cancelled.
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
  }

  std::string AddArtifact(const std::string& bytes) {
    const std::string digest = Sha256Hex(bytes);
    const std::lock_guard lock(mutex_);
    artifacts_[digest] = bytes;
    return digest;
  }

  // The next message of a kind that is not answered here; none after ten seconds.
  std::optional<hone::v1::WorkRequest> Receive() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [this] { return !inbox_.empty(); });
    if (inbox_.empty()) return std::nullopt;
    auto message = std::move(inbox_.front());
    inbox_.pop_front();
    return message;
  }
  // Skips all others.
  template <typename Has>
  std::optional<hone::v1::WorkRequest> ReceiveWhere(Has has) {
    while (auto message = Receive()) {
      if (has(*message)) return message;
    }
    return std::nullopt;
  }

  void Send(const hone::v1::WorkResponse& message) {
    const std::lock_guard lock(mutex_);
    if (stream_ != nullptr) stream_->Write(message);
  }
  // The next streams are refused with this status.
  void Refuse(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(status);
  }
  void DropStream() {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }

  grpc::Status Work(grpc::ServerContext* context, ServerStream* stream) override {
    {
      const std::lock_guard lock(mutex_);
      if (!refusal_.ok()) return refusal_;
      stream_ = stream;
      context_ = context;
    }
    hone::v1::WorkRequest message;
    while (stream->Read(&message)) Take(message);
    const std::lock_guard lock(mutex_);
    stream_ = nullptr;
    context_ = nullptr;
    return grpc::Status::OK;
  }

 private:
  void Take(const hone::v1::WorkRequest& message) {
    const std::lock_guard lock(mutex_);
    if (message.has_hello()) {
      hone::v1::WorkResponse response;
      response.mutable_welcome()->set_protocol(1);
      response.mutable_welcome()->set_heartbeat_interval_ns(1'000'000'000);
      stream_->Write(response);
    }
    if (message.has_fetch()) return SendArtifact(message.fetch().digest());
    if (message.has_heartbeat()) return;
    inbox_.push_back(message);
    changed_.notify_all();
  }

  void SendArtifact(const std::string& digest) {
    constexpr size_t kChunk = 1000;
    const std::string& bytes = artifacts_[digest];
    for (size_t offset = 0; offset < bytes.size(); offset += kChunk) {
      hone::v1::WorkResponse response;
      auto& chunk = *response.mutable_chunk();
      chunk.set_digest(digest);
      chunk.set_total_bytes(bytes.size());
      chunk.set_offset(offset);
      chunk.set_data(bytes.substr(offset, kChunk));
      stream_->Write(response);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> artifacts_;
  std::deque<hone::v1::WorkRequest> inbox_;
  ServerStream* stream_ = nullptr;
  grpc::ServerContext* context_ = nullptr;
  grpc::Status refusal_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace hone::measure

#endif  // HONE_TESTS_MEASURE_SERVER_FAKE_DAEMON_H_
