#include "measure_server/worker.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace hone::measure {

namespace v1 = hone::v1;

namespace {
// From here on a device has a window, and heartbeats name what it runs.
constexpr uint32_t kWindowProtocol = 3;
// A daemon that does not say how long it may be silent is taken for gone after so many intervals.
constexpr int64_t kSilentIntervals = 5;
}  // namespace

void Worker::Connected(Send send) {
  const std::lock_guard lock(mutex_);
  send_ = std::move(send);
  queue_.clear();
  transfers_.clear();
  v1::WorkRequest hello;
  *hello.mutable_hello() = options_.hello;
  for (const auto& [fence, result] : results_) hello.mutable_hello()->add_held_fences(fence);
  // Not ready yet, but it will follow as a result.
  if (running_ && !running_is_revoked_) hello.mutable_hello()->add_held_fences(running_->fence());
  Emit(std::move(hello));
  for (const auto& [fence, result] : results_) {
    v1::WorkRequest message;
    *message.mutable_result() = result;
    Emit(std::move(message));
  }
  if (draining_) BeginDraining();
}

void Worker::TakeWelcome(const v1::Welcome& welcome) {
  heartbeat_interval_ns_ = welcome.heartbeat_interval_ns();
  silence_limit_ns_ = welcome.silence_limit_ns() > 0 ? welcome.silence_limit_ns()
                                                     : kSilentIntervals * heartbeat_interval_ns_;
  protocol_ = welcome.protocol();
  spdlog::info("joined {}", welcome.daemon());
  for (const v1::Device& device : options_.hello.devices()) {
    if (draining_) break;
    if (protocol_ < kWindowProtocol) {
      const uint32_t taken = running_ && running_->device() == device.id() ? 1 : 0;
      GiveCredit(device.id(), options_.window - std::min(taken, options_.window));
      continue;
    }
    v1::WorkRequest message;
    message.mutable_window()->set_device(device.id());
    message.mutable_window()->set_size(options_.window);
    Emit(std::move(message));
  }
  if (running_ && protocol_ >= kWindowProtocol) {
    v1::WorkRequest message;
    AddRunning(*message.mutable_heartbeat());
    Emit(std::move(message));
  }
}

void Worker::Receive(const v1::WorkResponse& message) {
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
      BeginDraining();
      break;
    default:
      break;
  }
  changed_.notify_all();
}

void Worker::Disconnected() {
  const std::lock_guard lock(mutex_);
  send_ = nullptr;
  queue_.clear();
  transfers_.clear();
  protocol_ = 0;
  heartbeat_interval_ns_ = 0;
  silence_limit_ns_ = 0;
  changed_.notify_all();
}

int64_t Worker::silence_limit_ns() const {
  const std::lock_guard lock(mutex_);
  return silence_limit_ns_;
}

v1::WorkRequest Worker::HeartbeatMessage() const {
  const std::lock_guard lock(mutex_);
  v1::WorkRequest message;
  message.mutable_heartbeat();
  if (protocol_ >= kWindowProtocol) AddRunning(*message.mutable_heartbeat());
  return message;
}

void Worker::AddRunning(v1::Heartbeat& heartbeat) const {
  for (const v1::Device& device : options_.hello.devices()) {
    v1::Running& running = *heartbeat.add_running();
    running.set_device(device.id());
    if (!running_ || running_->device() != device.id()) continue;
    running.set_fence(running_->fence());
    running.set_running_ns(clock_->NowNs() - running_since_ns_);
  }
}

int64_t Worker::heartbeat_interval_ns() const {
  const std::lock_guard lock(mutex_);
  return heartbeat_interval_ns_;
}

void Worker::TakeAssignment(const v1::Assignment& assignment) {
  Queued queued;
  queued.job.assignment = assignment;
  queued.job.candidates.resize(static_cast<size_t>(assignment.candidates_size()));
  queued.since_ns = clock_->NowNs();
  for (const v1::Candidate& candidate : assignment.candidates()) {
    queued.missing.insert(candidate.artifact_digest());
  }
  for (const v1::Candidate& beside : {assignment.reference(), assignment.anchor()}) {
    if (!beside.artifact_digest().empty()) queued.missing.insert(beside.artifact_digest());
  }
  const std::set<std::string> wanted = queued.missing;
  for (const std::string& digest : wanted) {
    if (const auto artifact = artifacts_.Find(digest)) Attach(queued, artifact);
  }
  const std::set<std::string> missing = queued.missing;
  queue_.push_back(std::move(queued));
  for (const std::string& digest : missing) Fetch(digest);
}

void Worker::Attach(Queued& queued, const std::shared_ptr<const Artifact>& artifact) {
  if (queued.missing.erase(artifact->digest()) == 0) return;
  const v1::Assignment& assignment = queued.job.assignment;
  for (int i = 0; i < assignment.candidates_size(); ++i) {
    if (assignment.candidates(i).artifact_digest() == artifact->digest()) {
      queued.job.candidates[static_cast<size_t>(i)] = artifact;
    }
  }
  if (assignment.reference().artifact_digest() == artifact->digest()) {
    queued.job.reference = artifact;
  }
  if (assignment.anchor().artifact_digest() == artifact->digest()) queued.job.anchor = artifact;
  if (queued.missing.empty()) queued.job.transfer_ns = clock_->NowNs() - queued.since_ns;
}

void Worker::Fetch(const std::string& digest) {
  if (!transfers_.try_emplace(digest).second) return;  // on its way
  v1::WorkRequest message;
  message.mutable_fetch()->set_digest(digest);
  Emit(std::move(message));
}

void Worker::TakeChunk(const v1::ArtifactChunk& chunk) {
  const auto transfer = transfers_.find(chunk.digest());
  if (transfer == transfers_.end()) return;  // of an assignment that was revoked
  std::string& bytes = transfer->second.bytes;
  const bool is_broken = chunk.total_bytes() > options_.max_artifact_bytes ||
                         chunk.offset() != bytes.size() ||
                         chunk.data().size() > chunk.total_bytes() - chunk.offset();
  if (chunk.missing() || is_broken) {
    transfers_.erase(transfer);
    // Missing: the daemon gave it up, and wants no result.
    return DropNeeding(
        chunk.digest(),
        chunk.missing() ? v1::MEASURE_OUTCOME_UNSPECIFIED : v1::MEASURE_OUTCOME_DEVICE_LOST,
        fmt::format("artifact {} came out of order or is too large", chunk.digest()));
  }
  bytes += chunk.data();
  if (bytes.size() < chunk.total_bytes()) return;
  std::string whole = std::move(bytes);
  transfers_.erase(transfer);
  TakeArtifact(chunk.digest(), std::move(whole));
}

void Worker::TakeArtifact(const std::string& digest, std::string bytes) {
  absl::StatusOr<std::shared_ptr<const Artifact>> artifact = Artifact::Make(digest, bytes);
  if (!artifact.ok()) {
    return DropNeeding(digest, v1::MEASURE_OUTCOME_DEVICE_LOST,
                       std::string(artifact.status().message()));
  }
  for (Queued& queued : queue_) Attach(queued, *artifact);
  artifacts_.Put(*std::move(artifact));
}

void Worker::DropNeeding(const std::string& digest, v1::MeasureOutcome outcome,
                         const std::string& message) {
  std::vector<v1::Assignment> dropped;
  std::erase_if(queue_, [&](const Queued& queued) {
    if (queued.missing.count(digest) == 0) return false;
    dropped.push_back(queued.job.assignment);
    return true;
  });
  for (const v1::Assignment& assignment : dropped) {
    spdlog::warn("trial {} is dropped: artifact {} did not come", assignment.trial(), digest);
    if (outcome != v1::MEASURE_OUTCOME_UNSPECIFIED) {
      Keep(FailedResult(assignment, outcome, message));
    }
    GiveCredit(assignment.device(), 1);
  }
}

void Worker::TakeRevoke(int64_t fence) {
  results_.erase(fence);
  if (running_ && running_->fence() == fence) {
    running_is_revoked_ = true;
    if (options_.cancel_running) options_.cancel_running();
  }
  const auto queued = std::find_if(queue_.begin(), queue_.end(), [&](const Queued& q) {
    return q.job.assignment.fence() == fence;
  });
  if (queued == queue_.end()) return;
  const std::string device = queued->job.assignment.device();
  queue_.erase(queued);
  GiveCredit(device, 1);
}

std::optional<Job> Worker::Next() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (stopped_ || IsFinished()) return std::nullopt;
    const auto ready = std::find_if(queue_.begin(), queue_.end(),
                                    [](const Queued& queued) { return queued.missing.empty(); });
    if (ready != queue_.end()) {
      Job job = std::move(ready->job);
      queue_.erase(ready);
      running_ = job.assignment;
      running_since_ns_ = clock_->NowNs();
      running_is_revoked_ = false;
      if (protocol_ >= kWindowProtocol) {
        // Before anything of it runs: what takes this process down is known by its name.
        v1::WorkRequest message;
        AddRunning(*message.mutable_heartbeat());
        Emit(std::move(message));
      }
      return job;
    }
    changed_.wait(lock);
  }
}

void Worker::Finish(v1::MeasureResult result) {
  const std::lock_guard lock(mutex_);
  const std::string device = running_ ? running_->device() : "";
  const bool is_wanted = !running_is_revoked_;
  running_.reset();
  if (is_wanted) Keep(std::move(result));
  GiveCredit(device, 1);
  changed_.notify_all();
}

void Worker::Keep(v1::MeasureResult result) {
  v1::WorkRequest message;
  *message.mutable_result() = result;
  const int64_t fence = result.fence();
  results_[fence] = std::move(result);
  Emit(std::move(message));
}

void Worker::GiveCredit(const std::string& device, uint32_t count) {
  if (draining_ || count == 0 || protocol_ >= kWindowProtocol || protocol_ == 0) return;
  v1::WorkRequest message;
  message.mutable_credit()->set_device(device);
  message.mutable_credit()->set_count(count);
  Emit(std::move(message));
}

void Worker::Emit(v1::WorkRequest message) {
  if (send_) send_(std::move(message));
}

void Worker::Drain() {
  const std::lock_guard lock(mutex_);
  if (!draining_) BeginDraining();
  changed_.notify_all();
}

void Worker::BeginDraining() {
  draining_ = true;
  v1::WorkRequest message;
  message.mutable_draining();
  Emit(std::move(message));
}

void Worker::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool Worker::is_draining() const {
  const std::lock_guard lock(mutex_);
  return draining_;
}

bool Worker::IsFinished() const {
  return stopped_ || (draining_ && queue_.empty() && !running_ && results_.empty());
}

bool Worker::is_finished() const {
  const std::lock_guard lock(mutex_);
  return IsFinished();
}

bool Worker::AwaitFinished(int64_t limit_ns) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(limit_ns),
                           [this] { return IsFinished(); });
}

}  // namespace hone::measure
