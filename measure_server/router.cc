#include "measure_server/router.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace hone::measure {

namespace v1 = hone::v1;

namespace {
// From here on a device has a window, heartbeats name what it runs, and updates say that it went.
constexpr uint32_t kWindowProtocol = 3;
// A daemon that does not say how long it may be silent is taken for gone after so many intervals.
constexpr int64_t kSilentIntervals = 5;
}  // namespace

Router::Router(RouterOptions options, const Clock* clock)
    : options_(std::move(options)),
      clock_(clock),
      artifacts_(options_.artifact_cache_bytes),
      inbox_(options_.max_artifact_bytes) {
  for (const v1::Device& device : options_.hello.devices()) {
    devices_.push_back(std::make_unique<DeviceQueue>(device));
  }
}

DeviceQueue* Router::FindDevice(const std::string& id) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const auto& device) { return device->device().id() == id; });
  return found == devices_.end() ? nullptr : found->get();
}

bool Router::tells() const { return protocol_ >= kWindowProtocol; }

// ---- the stream ----

void Router::Connected(Send send, std::function<void()> finished) {
  const std::lock_guard lock(mutex_);
  send_ = std::move(send);
  finished_ = std::move(finished);
  inbox_.Clear();
  untold_.clear();
  v1::WorkRequest message;
  v1::Hello& hello = *message.mutable_hello();
  hello = options_.hello;
  hello.clear_devices();
  for (const auto& [fence, result] : results_) hello.add_held_fences(fence);
  for (const auto& device : devices_) {
    device->DropAll();
    if (device->is_here()) *hello.add_devices() = device->device();
    // Not ready yet, but it will follow as a result.
    if (device->running() && device->is_wanted()) {
      hello.add_held_fences(device->running()->fence());
    }
  }
  Emit(std::move(message));
  for (const auto& [fence, result] : results_) {
    v1::WorkRequest held;
    *held.mutable_result() = result;
    Emit(std::move(held));
  }
  if (draining_) BeginDraining();
}

void Router::TakeWelcome(const v1::Welcome& welcome) {
  heartbeat_interval_ns_ = welcome.heartbeat_interval_ns();
  silence_limit_ns_ = welcome.silence_limit_ns() > 0 ? welcome.silence_limit_ns()
                                                     : kSilentIntervals * heartbeat_interval_ns_;
  protocol_ = welcome.protocol();
  spdlog::info("joined {}", welcome.daemon());
  for (const DeviceChange& change : std::exchange(untold_, {})) Tell(change);
  for (const auto& device : devices_) {
    if (device->is_here()) OpenWindow(*device);
  }
  const bool runs = std::any_of(devices_.begin(), devices_.end(),
                                [](const auto& device) { return device->running().has_value(); });
  if (runs) EmitRunning();
}

void Router::OpenWindow(const DeviceQueue& device) {
  if (draining_ || protocol_ == 0) return;
  const std::string& id = device.device().id();
  if (!tells()) {
    const uint32_t taken = device.running() ? 1 : 0;
    return GiveCredit(id, WindowOf(id) - std::min(taken, WindowOf(id)));
  }
  v1::WorkRequest message;
  message.mutable_window()->set_device(id);
  message.mutable_window()->set_size(WindowOf(id));
  Emit(std::move(message));
}

uint32_t Router::WindowOf(const std::string& device) const {
  const auto ahead = options_.ahead.find(device);
  return options_.window + (ahead == options_.ahead.end() ? 0 : ahead->second);
}

void Router::Receive(const v1::WorkResponse& message) {
  const std::lock_guard lock(mutex_);
  switch (message.message_case()) {
    case v1::WorkResponse::kWelcome:
      TakeWelcome(message.welcome());
      break;
    case v1::WorkResponse::kAssignment:
      TakeAssignment(message.assignment());
      break;
    case v1::WorkResponse::kChunk:
      TakeChunk(message.chunk());
      break;
    case v1::WorkResponse::kAcknowledge:
      results_.erase(message.acknowledge().fence());
      break;
    case v1::WorkResponse::kRevoke:
      TakeRevoke(message.revoke().fence());
      break;
    case v1::WorkResponse::kDrain:
      if (!draining_)
        spdlog::info("drained by the daemon: what is held is finished, then this leaves");
      BeginDraining();
      break;
    case v1::WorkResponse::kUndrain:
      TakeUndrain();
      break;
    default:
      break;
  }
  Changed();
}

void Router::Disconnected() {
  const std::lock_guard lock(mutex_);
  send_ = nullptr;
  finished_ = nullptr;
  for (const auto& device : devices_) device->DropAll();
  inbox_.Clear();
  protocol_ = 0;
  heartbeat_interval_ns_ = 0;
  silence_limit_ns_ = 0;
  Changed();
}

int64_t Router::heartbeat_interval_ns() const {
  const std::lock_guard lock(mutex_);
  return heartbeat_interval_ns_;
}

int64_t Router::silence_limit_ns() const {
  const std::lock_guard lock(mutex_);
  return silence_limit_ns_;
}

v1::WorkRequest Router::HeartbeatMessage() const {
  const std::lock_guard lock(mutex_);
  v1::WorkRequest message;
  message.mutable_heartbeat();
  if (tells()) AddRunning(*message.mutable_heartbeat());
  return message;
}

void Router::AddRunning(v1::Heartbeat& heartbeat) const {
  for (const auto& device : devices_) {
    if (device->is_here()) *heartbeat.add_running() = device->RunningMessage(clock_->NowNs());
  }
}

void Router::EmitRunning() {
  if (!tells()) return;
  v1::WorkRequest message;
  AddRunning(*message.mutable_heartbeat());
  Emit(std::move(message));
}

void Router::Emit(v1::WorkRequest message) {
  if (send_) send_(std::move(message));
}

void Router::GiveCredit(const std::string& device, uint32_t count) {
  if (draining_ || count == 0 || tells() || protocol_ == 0) return;
  v1::WorkRequest message;
  message.mutable_credit()->set_device(device);
  message.mutable_credit()->set_count(count);
  Emit(std::move(message));
}

// ---- assignments and their artifacts ----

void Router::TakeAssignment(const v1::Assignment& assignment) {
  DeviceQueue* const device = FindDevice(assignment.device());
  if (device == nullptr || !device->is_here()) {
    // The daemon gives up what it gave to a device that went, once it knows.
    if (device != nullptr && tells()) return;
    return Keep(FailedResult(
        assignment, absl::NotFoundError(fmt::format("expected an assignment of a device that is "
                                                    "here, found one of \"{}\"",
                                                    assignment.device()))));
  }
  for (const std::string& digest : device->Add(assignment, ++turns_, clock_->NowNs())) {
    if (const auto artifact = artifacts_.Find(digest)) {
      device->Attach(artifact, clock_->NowNs());
    } else {
      Fetch(digest);
    }
  }
}

void Router::Fetch(const std::string& digest) {
  if (!inbox_.Expect(digest)) return;
  v1::WorkRequest message;
  message.mutable_fetch()->set_digest(digest);
  Emit(std::move(message));
}

void Router::TakeChunk(const v1::ArtifactChunk& chunk) {
  const absl::StatusOr<std::string> whole = inbox_.Take(chunk);
  if (whole.ok()) return TakeArtifact(chunk.digest(), *whole);
  if (absl::IsUnavailable(whole.status())) return;
  // Where the daemon gave it up, it wants no result.
  DropNeeding(chunk.digest(),
              absl::IsNotFound(whole.status()) ? v1::MEASURE_OUTCOME_UNSPECIFIED
                                               : v1::MEASURE_OUTCOME_DEVICE_LOST,
              std::string(whole.status().message()));
}

void Router::TakeArtifact(const std::string& digest, const std::string& bytes) {
  absl::StatusOr<std::shared_ptr<const Artifact>> artifact = Artifact::Make(digest, bytes);
  if (!artifact.ok()) {
    return DropNeeding(digest, v1::MEASURE_OUTCOME_DEVICE_LOST,
                       std::string(artifact.status().message()));
  }
  for (const auto& device : devices_) device->Attach(*artifact, clock_->NowNs());
  artifacts_.Put(*std::move(artifact));
}

void Router::DropNeeding(const std::string& digest, v1::MeasureOutcome outcome,
                         const std::string& message) {
  for (const auto& device : devices_) {
    for (const v1::Assignment& assignment : device->DropNeeding(digest)) {
      spdlog::warn("trial {} is dropped: artifact {} did not come", assignment.trial(), digest);
      if (outcome != v1::MEASURE_OUTCOME_UNSPECIFIED) {
        Keep(FailedResult(assignment, outcome, message));
      }
      GiveCredit(assignment.device(), 1);
    }
  }
}

void Router::TakeRevoke(int64_t fence) {
  results_.erase(fence);
  for (const auto& device : devices_) {
    const std::string& id = device->device().id();
    if (device->Drop(fence)) GiveCredit(id, 1);
    if (!device->runs(fence)) continue;
    CancelRunning(*device);
  }
}

// ---- devices ----

// Devices that exclude one another go by the order of their assignments.
bool Router::MayBegin(const DeviceQueue& device) const {
  const std::optional<uint64_t> turn = device.ReadyTurn();
  if (!turn) return false;
  return std::none_of(devices_.begin(), devices_.end(), [&](const auto& other) {
    if (other.get() == &device || !Exclude(device.device(), other->device())) return false;
    return other->running() || other->ReadyTurn().value_or(UINT64_MAX) < *turn;
  });
}

std::optional<Job> Router::Next(const std::string& id) {
  std::unique_lock lock(mutex_);
  DeviceQueue& device = *FindDevice(id);
  while (true) {
    if (IsFinished() || device.presence() == DeviceQueue::Presence::kLost) return std::nullopt;
    if (MayBegin(device)) {
      Job job = device.Begin(clock_->NowNs());
      // The daemon is told before anything of the job runs, and so knows what took this process
      // down.
      EmitRunning();
      return job;
    }
    changed_.wait(lock);
  }
}

std::vector<Job> Router::Ahead(const std::string& id, uint32_t count) const {
  const std::lock_guard lock(mutex_);
  return FindDevice(id)->Ready(count);
}

void Router::Finish(const std::string& id, v1::MeasureResult result) {
  const std::lock_guard lock(mutex_);
  DeviceQueue& device = *FindDevice(id);
  if (device.End()) Keep(std::move(result));
  if (device.is_here()) GiveCredit(id, 1);
  Changed();
}

void Router::Keep(v1::MeasureResult result) {
  v1::WorkRequest message;
  *message.mutable_result() = result;
  const int64_t fence = result.fence();
  results_[fence] = std::move(result);
  Emit(std::move(message));
}

void Router::GiveUpDevice(DeviceQueue& device, DeviceQueue::Presence presence,
                          const std::string& reason) {
  device.set_presence(presence);
  DeviceChange change;
  *change.update.mutable_device() = device.device();
  change.update.set_unplugged(true);
  change.update.set_reason(reason);
  change.lost = device.DropAll();
  if (device.running() && device.is_wanted()) {
    change.lost.push_back(*device.running());
    CancelRunning(device);
  }
  Tell(change);
}

void Router::CancelRunning(DeviceQueue& device) {
  device.RevokeRunning();
  if (options_.cancel) options_.cancel(device.device().id(), device.running()->fence());
}

void Router::Tell(const DeviceChange& change) {
  if (!send_) return;  // the next Hello says how the devices are, and does not name what is lost
  if (protocol_ == 0) return untold_.push_back(change);
  if (tells()) {
    v1::WorkRequest message;
    *message.mutable_device_update() = change.update;
    return Emit(std::move(message));
  }
  // Protocol 2 has no word for it.
  for (const v1::Assignment& assignment : change.lost) {
    Keep(FailedResult(assignment, v1::MEASURE_OUTCOME_DEVICE_LOST, change.update.reason()));
  }
}

void Router::Unplug(const std::string& id, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  DeviceQueue& device = *FindDevice(id);
  if (!device.is_here()) return;
  spdlog::warn("device {} is away: {}", id, reason);
  GiveUpDevice(device, DeviceQueue::Presence::kAway, reason);
  Changed();
}

void Router::Lose(const std::string& id, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  DeviceQueue& device = *FindDevice(id);
  if (device.presence() == DeviceQueue::Presence::kLost) return;
  spdlog::error("device {} is lost: {}", id, reason);
  GiveUpDevice(device, DeviceQueue::Presence::kLost, reason);
  const bool is_last = std::all_of(devices_.begin(), devices_.end(), [](const auto& other) {
    return other->presence() == DeviceQueue::Presence::kLost;
  });
  if (is_last) leaves_ = true;
  if (is_last && !draining_) BeginDraining();
  Changed();
}

void Router::Update(const v1::Device& info) {
  const std::lock_guard lock(mutex_);
  DeviceQueue& device = *FindDevice(info.id());
  if (device.presence() == DeviceQueue::Presence::kLost) return;
  const bool was_here = device.is_here();
  device.set_device(info);
  device.set_presence(DeviceQueue::Presence::kHere);
  DeviceChange change;
  *change.update.mutable_device() = info;
  Tell(change);
  if (!was_here) OpenWindow(device);
  Changed();
}

// ---- the end ----

void Router::Drain() {
  const std::lock_guard lock(mutex_);
  leaves_ = true;
  if (!draining_) BeginDraining();
  Changed();
}

void Router::BeginDraining() {
  draining_ = true;
  v1::WorkRequest message;
  message.mutable_draining();
  Emit(std::move(message));
}

void Router::TakeUndrain() {
  v1::WorkRequest message;
  v1::Undrained& undrained = *message.mutable_undrained();
  // Once it has finished, threads of devices may have left.
  undrained.set_leaves(leaves_ || IsFinished());
  if (!undrained.leaves()) draining_ = false;
  spdlog::info("the daemon takes its drain back: this {}",
               undrained.leaves() ? "leaves all the same" : "stays");
  Emit(std::move(message));
  if (draining_) return;
  for (const auto& device : devices_) {
    if (device->is_here()) OpenWindow(*device);
  }
}

void Router::GiveUp(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  leaves_ = true;
  for (const auto& device : devices_) {
    // An idle one goes as well: an assignment to it may be on its way.
    if (device->presence() == DeviceQueue::Presence::kLost) continue;
    GiveUpDevice(*device, DeviceQueue::Presence::kLost, reason);
  }
  if (!draining_) BeginDraining();
  Changed();
}

void Router::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const auto& device : devices_) {
    if (device->running()) CancelRunning(*device);
  }
  Changed();
}

bool Router::is_draining() const {
  const std::lock_guard lock(mutex_);
  return draining_;
}

bool Router::IsFinished() {
  if (stopped_) return true;
  const bool is_finished = draining_ && results_.empty() &&
                           std::all_of(devices_.begin(), devices_.end(),
                                       [](const auto& device) { return device->is_idle(); });
  leaves_ = leaves_ || is_finished;
  return is_finished;
}

void Router::Changed() {
  changed_.notify_all();
  if (IsFinished() && finished_) finished_();
}

bool Router::is_finished() {
  const std::lock_guard lock(mutex_);
  return IsFinished();
}

bool Router::AwaitFinished(int64_t limit_ns) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns),
                           [this] { return IsFinished(); });
}

}  // namespace hone::measure
