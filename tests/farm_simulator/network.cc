#include "tests/farm_simulator/network.h"

#include <algorithm>
#include <utility>

namespace hone::sim {

namespace v1 = hone::v1;

// ---- the network ----

void Network::Listen(tuner::Dispatcher *dispatcher, std::shared_ptr<Life> daemon) {
  dispatcher_ = dispatcher;
  daemon_ = std::move(daemon);
  if (dispatcher != nullptr) return;
  for (const std::weak_ptr<Stream> &stream : std::exchange(streams_, {})) {
    if (const auto open = stream.lock()) open->LoseDaemon();
  }
}

std::shared_ptr<Stream> Network::Dial(const std::string &worker, WorkerPort *port) {
  if (dispatcher_ == nullptr) return nullptr;
  auto stream = std::make_shared<Stream>(this, ++last_stream_, worker, port);
  std::erase_if(streams_, [](const auto &other) { return other.expired(); });
  streams_.push_back(stream);
  dispatcher_->Opened(stream);
  return stream;
}

void Network::BlackHole(const std::string &worker, int64_t until_ns) {
  int64_t &until = black_until_ns_[worker];
  until = std::max(until, until_ns);
}

int64_t Network::BlackUntil(const std::string &worker) const {
  const auto it = black_until_ns_.find(worker);
  return it == black_until_ns_.end() ? 0 : it->second;
}

void Network::BreakOne() {
  if (streams_.empty()) return;
  const size_t which = queue_->random().Below(streams_.size());
  if (const auto stream = streams_[which].lock()) stream->Break();
}

// ---- a stream ----

namespace {

// Whether it means the same when it is said again: credit counts up, and a second Hello is one too
// many.
bool MayComeTwice(const v1::WorkRequest &message) {
  return message.has_result() || message.has_window() || message.has_heartbeat() ||
         message.has_device_update() || message.has_draining() || message.has_fetch();
}

}  // namespace

Stream::Stream(Network *network, int64_t id, std::string worker, WorkerPort *port)
    : network_(network),
      id_(id),
      worker_(std::move(worker)),
      port_(port),
      dispatcher_(network->dispatcher_),
      daemon_(network->daemon_) {}

void Stream::Push(Pipe &pipe, std::function<void()> item) {
  pipe.push_back(std::move(item));
  const NetworkWeather &weather = network_->weather;
  const int64_t delay = network_->queue_->Between(weather.least_delay_ns, weather.most_delay_ns);
  network_->queue_->After(delay, [self = shared_from_this(), &pipe] { self->Arrive(pipe); });
}

void Stream::Arrive(Pipe &pipe) {
  if (pipe.empty()) return;
  EventQueue &queue = *network_->queue_;
  const int64_t not_before = std::max(network_->BlackUntil(worker_),
                                      &pipe == &to_daemon_ ? straggles_until_ns_ : int64_t{0});
  if (not_before > queue.now_ns()) {
    int64_t &noted = network_->noted_until_ns_[worker_];
    if (network_->BlackUntil(worker_) > std::max(noted, queue.now_ns())) {
      noted = network_->BlackUntil(worker_);
      NoteFault(Fault::kBlackHoles);
    }
    queue.After(not_before - queue.now_ns() + queue.Between(0, 100 * kMillisecond),
                [self = shared_from_this(), &pipe] { self->Arrive(pipe); });
    return;
  }
  const std::function<void()> item = std::move(pipe.front());
  pipe.pop_front();
  item();
}

void Stream::Cut(Pipe &pipe) {
  const size_t kept = network_->queue_->random().Below(pipe.size() + 1);
  pipe.resize(kept);
}

void Stream::PushClosed() {
  Push(to_daemon_, [this] {
    if (daemon_->is_over()) return;
    if (!is_closed_) Write({.what = What::kStreamEnd});
    dispatcher_->Closed(shared_from_this());
  });
}

void Stream::Send(v1::WorkResponse message) {
  if (daemon_->is_over() || is_closed_) return;
  WriteResponse(message);
  // The daemon may not know yet that nobody hears it.
  if (is_broken_) return;
  EventQueue &queue = *network_->queue_;
  if (network_->weather.offers_unleased && message.has_assignment() && queue.IsTrue(0.05)) {
    v1::WorkResponse extra = message;
    extra.mutable_assignment()->set_fence(message.assignment().fence() + 1'000'000);
    WriteResponse(extra);
  }
  Push(to_worker_, [this, message = std::move(message)] {
    if (port_ != nullptr) port_->OnMessage(message);
  });
  if (queue.IsTrue(network_->weather.break_share)) Break();
}

void Stream::Close(absl::Status status) {
  if (daemon_->is_over() || is_closed_) return;
  Write({.what = What::kStreamEnd, .text = std::string(status.message())});
  is_closed_ = true;
  if (is_broken_) return;
  is_broken_ = true;
  Push(to_worker_, [this, status = std::move(status)] {
    if (port_ != nullptr) std::exchange(port_, nullptr)->OnEnd(status);
  });
  Cut(to_daemon_);
  PushClosed();
}

void Stream::Tell(const v1::WorkRequest &message) {
  if (is_broken_) return;
  if (message.has_hello()) {
    for (const v1::Device &device : message.hello().devices()) {
      fingerprints_[device.id()] = device.fingerprint();
    }
  }
  if (message.has_device_update()) {
    const v1::Device &device = message.device_update().device();
    fingerprints_[device.id()] = device.fingerprint();
  }
  PushRequest(message);
  EventQueue &queue = *network_->queue_;
  if (MayComeTwice(message) && queue.IsTrue(network_->weather.repeat_share)) {
    NoteFault(Fault::kDuplicates);
    PushRequest(message);
  }
  if (queue.IsTrue(network_->weather.break_share)) Break();
}

void Stream::PushRequest(const v1::WorkRequest &message) {
  Push(to_daemon_, [this, message] {
    if (daemon_->is_over()) return;
    WriteRequest(message);
    v1::WorkRequest seen = message;
    if (network_->weather.acknowledges_early && message.has_result()) {
      v1::WorkResponse acknowledge;
      acknowledge.mutable_acknowledge()->set_fence(message.result().fence());
      Send(std::move(acknowledge));
    }
    if (network_->weather.doubles_windows) {
      if (seen.has_credit()) seen.mutable_credit()->set_count(2 * seen.credit().count());
      if (seen.has_window()) seen.mutable_window()->set_size(2 * seen.window().size());
    }
    if (network_->weather.hides_resources && seen.has_hello()) {
      for (v1::Device &device : *seen.mutable_hello()->mutable_devices()) device.clear_resources();
    }
    dispatcher_->Receive(shared_from_this(), std::move(seen));
  });
}

void Stream::NoteFault(Fault fault) {
  Write({.what = What::kFault, .text = std::string(Name(fault))});
}

void Stream::HangUp() {
  port_ = nullptr;
  if (is_broken_) return;
  is_broken_ = true;
  Cut(to_daemon_);
  PushClosed();
}

void Stream::Break() {
  if (is_broken_) return;
  is_broken_ = true;
  NoteFault(Fault::kResets);
  EventQueue &queue = *network_->queue_;
  if (queue.IsTrue(network_->weather.straggle_share)) {
    straggles_until_ns_ = queue.now_ns() + queue.Between(0, 8 * kSecond);
  } else {
    Cut(to_daemon_);
  }
  PushClosed();
  Cut(to_worker_);
  Push(to_worker_, [this] {
    if (port_ != nullptr) {
      std::exchange(port_, nullptr)->OnEnd(absl::UnavailableError("the stream broke"));
    }
  });
}

void Stream::LoseDaemon() {
  is_broken_ = true;
  to_daemon_.clear();
  Cut(to_worker_);
  Push(to_worker_, [this] {
    if (port_ != nullptr) {
      std::exchange(port_, nullptr)->OnEnd(absl::UnavailableError("the daemon is gone"));
    }
  });
}

}  // namespace hone::sim
