// A worker's stream: it dials, beats, and comes back. What it measures is in sim_worker_runs.cc.
#include "tests/farm_simulator/sim_worker.h"

#include <algorithm>
#include <utility>

#include "runtime/module_abi.h"
#include "support/digest.h"

namespace hone::sim {

namespace v1 = hone::v1;

namespace {
constexpr int kSilentIntervals = 5;
constexpr int64_t kFirstBackoffNs = 100 * kMillisecond;
constexpr int64_t kLongestBackoffNs = 5 * kSecond;
}  // namespace

SimWorker::SimWorker(EventQueue* queue, Network* network, History* history, WorkerTraits traits,
                     MeasureFunction measure)
    : queue_(queue),
      network_(network),
      history_(history),
      traits_(std::move(traits)),
      measure_(std::move(measure)),
      clock_(queue, traits_.clock_off_ns) {
  life_->End();
}

SimWorker::~SimWorker() { life_->End(); }

void SimWorker::Start() {
  life_ = std::make_shared<Life>();
  instance_ = traits_.name + "#" + std::to_string(queue_->random().Below(1'000'000'000));
  backoff_ns_ = kFirstBackoffNs;
  is_draining_ = false;
  devices_.clear();
  for (int i = 0; i < traits_.devices; ++i) {
    const std::string id = "d" + std::to_string(i);
    v1::Device& info = devices_[id].info;
    info.set_id(id);
    info.set_target(traits_.target);
    info.set_host_target(traits_.target);
    info.set_fingerprint(Sha256Hex("machine " + traits_.name));
    info.set_threads(2);
    info.set_kind(v1::DEVICE_KIND_CPU);
    if (traits_.shares_cores) info.add_resources("cores");
  }
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kWorkerUp,
                       .worker = traits_.name,
                       .text = instance_});
  Dial();
}

void SimWorker::Kill() {
  if (is_up()) GoDown(true);
}

void SimWorker::GoDown(bool is_killed) {
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kWorkerDown,
                       .worker = traits_.name,
                       .number = is_killed ? 1 : 0,
                       .text = instance_});
  life_->End();
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->HangUp();
  held_.clear();
  devices_.clear();
  artifacts_.clear();
  fetching_.clear();
  if (on_down) on_down();
}

void SimWorker::Dial() {
  protocol_ = 0;
  last_heard_ns_ = Now();
  fetching_.clear();
  for (auto& [id, device] : devices_) device.queue.clear();
  stream_ = network_->Dial(traits_.name, this);
  if (stream_ == nullptr) return Redial();
  SendHello();
  if (traits_.max_protocol == 2) SendHeld();
  Beat();
}

void SimWorker::Redial() {
  const int64_t shortened = queue_->Between(backoff_ns_ / 2, backoff_ns_);
  backoff_ns_ = std::min(2 * backoff_ns_, kLongestBackoffNs);
  queue_->After(shortened, life_, [this] {
    if (stream_ == nullptr) Dial();
  });
}

void SimWorker::DialTwice() {
  if (!is_up() || stream_ == nullptr) return;
  // The old stream stays up for the daemon, which is told of its end after the new one's Hello.
  const std::shared_ptr<Stream> old = std::exchange(stream_, nullptr);
  Dial();
  old->HangUp();
}

void SimWorker::Beat() {
  queue_->After(interval_ns_, life_, [this, stream = std::weak_ptr<Stream>(stream_)] {
    if (stream_ == nullptr || stream.lock() != stream_) return;
    if (Now() - last_heard_ns_ > kSilentIntervals * interval_ns_) {
      std::exchange(stream_, nullptr)->HangUp();
      return Redial();
    }
    SendHeartbeat();
    Beat();
  });
}

void SimWorker::SendHeartbeat() {
  v1::WorkRequest message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  for (const auto& [id, device] : devices_) {
    if (protocol_ < 3 || device.is_gone) continue;
    v1::Running& running = *heartbeat.add_running();
    running.set_device(id);
    if (!device.run) continue;
    running.set_fence(device.run->assignment.fence());
    running.set_running_ns(Now() - device.run->began_ns);
  }
  Send(message);
}

void SimWorker::Send(const v1::WorkRequest& message) {
  if (stream_ != nullptr) stream_->Tell(message);
}

void SimWorker::SendHello() {
  v1::WorkRequest message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_worker(traits_.name);
  hello.set_build("simulated");
  hello.set_instance(instance_);
  hello.set_min_protocol(2);
  hello.set_max_protocol(traits_.max_protocol);
  hello.set_artifact_abi(HONE_MODULE_ABI_VERSION);
  hello.set_sandbox(v1::SANDBOX_LEVEL_STRICT);
  for (auto& [id, device] : devices_) {
    device.was_gone = device.is_gone;
    if (!device.is_gone || traits_.max_protocol == 2) *hello.add_devices() = device.info;
    if (device.run) hello.add_held_fences(device.run->assignment.fence());
  }
  for (const auto& [fence, result] : held_) hello.add_held_fences(fence);
  Send(message);
}

void SimWorker::SendHeld() {
  for (const auto& [fence, result] : held_) {
    v1::WorkRequest message;
    *message.mutable_result() = result;
    Send(message);
  }
  if (is_draining_) {
    v1::WorkRequest message;
    message.mutable_draining();
    return Send(message);
  }
  for (const auto& [id, device] : devices_) {
    GiveWindow(device);
    GiveCredit(device, static_cast<int>(traits_.window) - (device.run ? 1 : 0));
  }
}

void SimWorker::GiveWindow(const Device& device) {
  if (protocol_ < 3 || is_draining_ || device.is_gone) return;
  v1::WorkRequest message;
  message.mutable_window()->set_device(device.info.id());
  message.mutable_window()->set_size(traits_.window);
  Send(message);
}

void SimWorker::GiveCredit(const Device& device, int count) {
  if (protocol_ >= 3 || is_draining_ || count <= 0) return;
  if (protocol_ == 0 && traits_.max_protocol > 2) return;  // all of it follows the Welcome
  v1::WorkRequest message;
  message.mutable_credit()->set_device(device.info.id());
  message.mutable_credit()->set_count(static_cast<uint32_t>(count));
  Send(message);
}

void SimWorker::OnMessage(const v1::WorkResponse& message) {
  last_heard_ns_ = Now();
  switch (message.message_case()) {
    case v1::WorkResponse::kWelcome:
      protocol_ = message.welcome().protocol();
      interval_ns_ = std::max(message.welcome().heartbeat_interval_ns(), kMillisecond);
      backoff_ns_ = kFirstBackoffNs;
      SendDeviceChanges();
      if (traits_.max_protocol > 2) SendHeld();
      break;
    case v1::WorkResponse::kAssignment:
      TakeAssignment(message.assignment());
      break;
    case v1::WorkResponse::kChunk:
      TakeChunk(message.chunk());
      break;
    case v1::WorkResponse::kAcknowledge:
      held_.erase(message.acknowledge().fence());
      break;
    case v1::WorkResponse::kRevoke:
      TakeRevoke(message.revoke().fence());
      break;
    case v1::WorkResponse::kDrain:
      Drain();
      break;
    default:
      break;
  }
  LeaveIfDone();
}

void SimWorker::OnEnd(const absl::Status& status) {
  stream_ = nullptr;
  for (auto& [id, device] : devices_) device.queue.clear();
  if (is_up()) Redial();
}

void SimWorker::Drain() {
  if (!is_up() || is_draining_) return;
  is_draining_ = true;
  v1::WorkRequest message;
  message.mutable_draining();
  Send(message);
  // After the message that is being handled.
  queue_->After(0, life_, [this] { LeaveIfDone(); });
}

void SimWorker::LeaveIfDone() {
  if (!is_up() || !is_draining_ || !held_.empty()) return;
  for (const auto& [id, device] : devices_) {
    if (device.run || !device.queue.empty()) return;
  }
  GoDown(false);
}

}  // namespace hone::sim
