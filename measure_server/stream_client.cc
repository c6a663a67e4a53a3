#include "measure_server/stream_client.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "hone/v1/farm.grpc.pb.h"
#include "support/clock.h"
#include "support/random.h"
#include "transport/dial.h"

namespace hone::measure {

namespace v1 = hone::v1;

namespace {

constexpr int64_t kIdleWaitNs = 1'000'000'000;
// How long a worker waits for its connection before it tries a stream all the same.
constexpr int64_t kConnectNs = 500'000'000;
// How long a worker that has finished waits for the daemon to end the stream.
constexpr int64_t kPartingNs = 2'000'000'000;

// Messages on their way to the stream, written by a thread of their own: writing may block, and
// nobody who has something to say should wait for that.
class Outbox {
 public:
  void Push(v1::WorkRequest message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
    changed_.notify_one();
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }

  // The next message, or none when there was none for so long or the box is closed.
  std::optional<v1::WorkRequest> Pop(int64_t limit_ns) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns),
                      [this] { return closed_ || !messages_.empty(); });
    if (messages_.empty()) return std::nullopt;
    v1::WorkRequest message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

  bool is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::WorkRequest> messages_;
  bool closed_ = false;
};

class Stream {
 public:
  Stream(v1::FarmService::StubInterface* stub, Router* router, const StreamOptions& options)
      : router_(router),
        welcome_limit_ns_(options.welcome_limit_ns),
        beat_(options.beat),
        stream_(stub->Work(&context_)) {}

  // Serves the stream until either side ends it. *joined: the daemon welcomed the worker.
  grpc::Status Run(bool* joined) {
    last_received_ns_ = Clock::Real().NowNs();
    router_->Connected([this](v1::WorkRequest message) { outbox_.Push(std::move(message)); },
                       [this] { outbox_.Close(); });
    std::thread writer([this] { Write(); });
    v1::WorkResponse response;
    while (stream_->Read(&response)) {
      last_received_ns_ = Clock::Real().NowNs();
      *joined = *joined || response.has_welcome();
      router_->Receive(response);
    }
    has_ended_ = true;
    end_.set_value();
    router_->Disconnected();
    outbox_.Close();
    writer.join();
    return stream_->Finish();
  }

 private:
  void Write() {
    while (!outbox_.is_closed()) {
      if (beat_) beat_();
      const int64_t interval_ns = router_->heartbeat_interval_ns();
      // Heartbeats go out on time, whatever else there is to say.
      const int64_t wait_ns = interval_ns > 0
                                  ? last_heartbeat_ns_ + interval_ns - Clock::Real().NowNs()
                                  : std::min(kIdleWaitNs, welcome_limit_ns_);
      std::optional<v1::WorkRequest> message = outbox_.Pop(std::max<int64_t>(wait_ns, 0));
      if (router_->is_finished()) {
        if (message && !has_ended_) stream_->Write(*message);
        break;
      }
      if (IsSilent()) {
        spdlog::warn("the daemon said nothing for too long");
        return context_.TryCancel();
      }
      if (message && !stream_->Write(*message)) return;  // the reader sees the end of the stream
      if (interval_ns <= 0 || Clock::Real().NowNs() - last_heartbeat_ns_ < interval_ns) continue;
      last_heartbeat_ns_ = Clock::Real().NowNs();
      if (!stream_->Write(router_->HeartbeatMessage())) return;
    }
    // To cancel a stream that the daemon has ended would replace what it said last.
    if (has_ended_) return;
    while (const auto message = outbox_.Pop(0)) {
      if (!stream_->Write(*message)) return;
    }
    stream_->WritesDone();
    // To cancel at once may drop what was written last; without an end the reader would wait for
    // good.
    if (ended_.wait_for(std::chrono::nanoseconds(kPartingNs)) == std::future_status::timeout) {
      context_.TryCancel();
    }
  }

  bool IsSilent() const {
    const int64_t told_ns = router_->silence_limit_ns();
    const int64_t limit_ns = told_ns > 0 ? told_ns : welcome_limit_ns_;
    return Clock::Real().NowNs() - last_received_ns_ > limit_ns;
  }

  Router* const router_;
  const int64_t welcome_limit_ns_;
  const std::function<void()> beat_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriterInterface<v1::WorkRequest, v1::WorkResponse>> stream_;
  Outbox outbox_;
  std::atomic<int64_t> last_received_ns_{0};
  std::atomic<bool> has_ended_{false};
  std::promise<void> end_;  // of what the daemon says
  const std::future<void> ended_ = end_.get_future();
  int64_t last_heartbeat_ns_ = 0;  // of the writer's thread
};

// The daemon's last word, when it is one.
absl::Status Refusal(const absl::Status& status) {
  const bool is_refusal = absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status) ||
                          absl::IsFailedPrecondition(status) || absl::IsAlreadyExists(status) ||
                          absl::IsInvalidArgument(status);
  return is_refusal ? status : absl::OkStatus();
}

}  // namespace

absl::Status RunStreams(const ServerAddress& address, Router* router,
                        const StreamOptions& options) {
  DialOptions of_dial;
  // Our own backoff decides; the channel's must not be slower.
  of_dial.reconnect_ms = static_cast<int>(options.first_backoff_ns / 1'000'000);
  of_dial.certificate_file = options.certificate_file;
  of_dial.key_file = options.key_file;
  const DaemonConnection connection(address, of_dial);
  const auto stub = v1::FarmService::NewStub(connection.channel());
  int64_t backoff_ns = options.first_backoff_ns;
  Random random(std::random_device{}());
  int failed_draining = 0;
  int taken = 0;
  while (!router->is_finished()) {
    bool joined = false;
    grpc::Status status;
    {
      Stream stream(stub.get(), router, options);
      status = stream.Run(&joined);
    }
    if (router->is_finished()) break;
    if (const absl::Status refusal = Refusal(connection.StatusOf(status)); !refusal.ok()) {
      if (!absl::IsAlreadyExists(refusal) || ++taken >= options.name_attempts) return refusal;
    }
    if (router->is_draining() && ++failed_draining >= options.drain_attempts) {
      spdlog::warn("the daemon at {} is gone; results that it did not acknowledge are dropped",
                   address.Name());
      break;
    }
    if (joined) {
      backoff_ns = options.first_backoff_ns;
      taken = 0;
    }
    // A thousand workers of a daemon that went do not come back in one moment.
    const int64_t wait_ns =
        backoff_ns - static_cast<int64_t>(random.Uniform() * static_cast<double>(backoff_ns / 2));
    spdlog::info("no stream to {} ({}); next try in {} ms", address.Name(), status.error_message(),
                 wait_ns / 1'000'000);
    if (options.beat) options.beat();
    // gRPC connects only while somebody waits for it. A stream that began before would fail with
    // what an earlier attempt found, though the daemon is back.
    if (!router->AwaitFinished(wait_ns)) {
      connection.channel()->WaitForConnected(std::chrono::system_clock::now() +
                                             std::chrono::nanoseconds(kConnectNs));
    }
    backoff_ns = std::min(2 * backoff_ns, options.longest_backoff_ns);
  }
  return absl::OkStatus();
}

}  // namespace hone::measure
