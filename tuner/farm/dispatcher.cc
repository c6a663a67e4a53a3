// Leases: how they begin and end. What workers say is in dispatcher_messages.cc.
#include "tuner/farm/dispatcher.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "support/crash_point.h"
#include "tuner/farm/device_match.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
}  // namespace

void Dispatcher::Measure(MeasureRequest request, MeasureCallback done) {
  executor_->Post([this, request = std::move(request), done = std::move(done)]() mutable {
    DoMeasure(std::move(request), std::move(done));
  });
}

void Dispatcher::Cancel(int64_t trial) {
  executor_->Post([this, trial] { DoCancel(trial); });
}

void Dispatcher::StopLeasing() {
  executor_->Post([this] { leasing_ = false; });
}

void Dispatcher::CloseAll() {
  executor_->Post([this] {
    for (auto& [name, session] : sessions_) {
      session.link->Close(absl::UnavailableError("the daemon stops"));
    }
    sessions_.clear();
    UpdateServed();
  });
}

void Dispatcher::Tick() {
  executor_->Post([this] { DoTick(); });
}

void Dispatcher::DoMeasure(MeasureRequest request, MeasureCallback done) {
  auto pending = std::make_shared<Pending>();
  pending->request = std::move(request);
  pending->done = std::move(done);
  const MeasureRequest& r = pending->request;
  if (r.held) {
    Lease lease{pending, r.trial.worker, "", false, clock_->NowNs() + options_.grace_ns};
    leases_[r.trial.fence] = std::move(lease);
    return;
  }
  for (const Artifact& candidate : r.candidates) artifacts_.Put(candidate);
  artifacts_.Put(r.reference);
  artifacts_.Put(r.anchor);
  Enqueue(std::move(pending));
  Match();
}

void Dispatcher::Enqueue(std::shared_ptr<Pending> pending) {
  const auto later = std::find_if(queue_.begin(), queue_.end(), [&](const auto& other) {
    return other->request.priority < pending->request.priority;
  });
  queue_.insert(later, std::move(pending));
}

void Dispatcher::DoCancel(int64_t trial) {
  queue_.remove_if([&](const auto& pending) { return pending->request.trial.id == trial; });
  const auto it = std::find_if(leases_.begin(), leases_.end(), [&](const auto& item) {
    return item.second.pending->request.trial.id == trial;
  });
  if (it == leases_.end()) return;
  const int64_t fence = it->first;
  const auto session = sessions_.find(it->second.worker);
  if (session != sessions_.end()) {
    v1::WorkResponse message;
    message.mutable_revoke()->set_fence(fence);
    session->second.link->Send(std::move(message));
  }
  Forget(fence);
}

void Dispatcher::UpdateServed() {
  std::vector<v1::Device> devices;
  for (const auto& [name, session] : sessions_) {
    if (session.draining) continue;
    for (const auto& [id, device] : session.devices) {
      if (!HealthOf(name, id).IsQuarantined(clock_->NowNs())) devices.push_back(device.info);
    }
  }
  if (served_.Set(devices) && on_devices_changed_) on_devices_changed_();
}

void Dispatcher::Match() {
  if (!leasing_) return;
  for (auto it = queue_.begin(); it != queue_.end();) {
    if ((*it)->strikes >= options_.poison_limit) {
      GiveUpPoison(**it);
      it = queue_.erase(it);
      continue;
    }
    const auto [session, device] = FindDevice(**it);
    if (session == nullptr) {
      ++it;
      continue;
    }
    const std::shared_ptr<Pending> pending = *it;
    it = queue_.erase(it);
    if (!Offer(pending, *session, *device)) return;
  }
}

std::pair<Dispatcher::Session*, Dispatcher::DeviceState*> Dispatcher::FindDevice(
    const Pending& pending) {
  Session* best_session = nullptr;
  DeviceState* best = nullptr;
  bool best_is_avoided = false;
  for (auto& [name, session] : sessions_) {
    if (session.draining) continue;
    const bool is_avoided = pending.avoid.count(name) > 0;
    for (auto& [id, device] : session.devices) {
      if (!TakesWork(name, device)) continue;
      if (!CanMeasure(device.info, pending.request.target)) continue;
      const bool is_better =
          best == nullptr || (best_is_avoided && !is_avoided) ||
          (best_is_avoided == is_avoided && device.leases.size() < best->leases.size());
      if (!is_better) continue;
      best_session = &session;
      best = &device;
      best_is_avoided = is_avoided;
    }
  }
  return {best_session, best};
}

bool Dispatcher::TakesWork(const std::string& worker, const DeviceState& device) const {
  const int64_t now = clock_->NowNs();
  const DeviceHealth health = HealthOf(worker, device.info.id());
  if (device.credit == 0 || health.IsQuarantined(now)) return false;
  return !health.IsOnTrial(now) || device.leases.empty();
}

DeviceHealth Dispatcher::HealthOf(const std::string& worker, const std::string& device) const {
  const auto it = health_.find({worker, device});
  return it == health_.end() ? DeviceHealth() : it->second;
}

// A measurement takes each candidate, and what is run beside them.
int64_t Dispatcher::LimitNs(const MeasureRequest& request) const {
  const int64_t runs = std::max<int64_t>(static_cast<int64_t>(request.candidates.size()), 1) +
                       (request.reference.digest.empty() ? 0 : 1) +
                       (request.anchor.digest.empty() ? 0 : 1);
  return options_.lease_slack_ns + runs * request.run_limit_ns;
}

namespace {

v1::Candidate ToCandidate(const Artifact& artifact) {
  v1::Candidate candidate;
  candidate.set_artifact_digest(artifact.digest);
  candidate.set_artifact_bytes(artifact.bytes == nullptr ? 0 : artifact.bytes->size());
  candidate.set_toolchain(artifact.toolchain);
  return candidate;
}

v1::WorkResponse ToAssignment(const MeasureRequest& request, const tuning_db::Trial& leased,
                              const std::string& device) {
  v1::WorkResponse message;
  v1::Assignment& assignment = *message.mutable_assignment();
  assignment.set_fence(leased.fence);
  assignment.set_trial(leased.id);
  assignment.set_attempt(static_cast<uint32_t>(leased.attempt));
  assignment.set_device(device);
  for (const Artifact& artifact : request.candidates) {
    *assignment.add_candidates() = ToCandidate(artifact);
  }
  assignment.set_rounds(request.rounds);
  if (!request.reference.digest.empty()) {
    *assignment.mutable_reference() = ToCandidate(request.reference);
  }
  if (!request.anchor.digest.empty()) *assignment.mutable_anchor() = ToCandidate(request.anchor);
  assignment.set_workload_digest(request.workload_digest);
  assignment.set_seed(request.seed);
  assignment.set_threads(request.threads);
  *assignment.mutable_timing() = request.timing;
  assignment.set_run_limit_ns(request.run_limit_ns);
  assignment.set_memory_limit_bytes(request.memory_limit_bytes);
  return message;
}

}  // namespace

// False: the store failed, and it is no use to go on now.
bool Dispatcher::Offer(const std::shared_ptr<Pending>& pending, Session& session,
                       DeviceState& device) {
  MeasureRequest& request = pending->request;
  const std::string worker = session.hello.worker();
  CrashPoint("tuner.lease.before");
  absl::StatusOr<tuning_db::Trial> leased = store_->Lease(request.trial.id, worker);
  CrashPoint("tuner.lease.after");
  if (!leased.ok()) {
    if (leased.status().code() == absl::StatusCode::kFailedPrecondition) {
      MeasureReport report;
      report.kind = MeasureReport::Kind::kSettled;
      (void)pending->done(report);
      return true;
    }
    spdlog::error("trial {} waits: {}", request.trial.id, leased.status().ToString());
    Enqueue(pending);
    return false;
  }
  request.trial = *leased;
  device.credit -= 1;
  device.leases.push_back(leased->fence);
  leases_[leased->fence] = Lease{pending, worker, device.info.id(), true, kNever};
  if (device.leases.size() == 1) StartFirst(device);
  CrashPoint("tuner.offer.before");
  session.link->Send(ToAssignment(request, *leased, device.info.id()));
  CrashPoint("tuner.offer.after");
  return true;
}

void Dispatcher::Forget(int64_t fence) {
  const auto it = leases_.find(fence);
  if (it == leases_.end()) return;
  const auto session = sessions_.find(it->second.worker);
  if (session != sessions_.end()) {
    for (auto& [id, device] : session->second.devices) {
      // Also when it was not the first: the worker has just begun another.
      if (std::erase(device.leases, fence) > 0) StartFirst(device);
    }
  }
  leases_.erase(it);
}

void Dispatcher::StartFirst(const DeviceState& device) {
  if (device.leases.empty()) return;
  const auto it = leases_.find(device.leases.front());
  if (it == leases_.end()) return;
  Lease& lease = it->second;
  lease.deadline_ns = clock_->NowNs() + LimitNs(lease.pending->request);
}

void Dispatcher::Lose(int64_t fence, bool is_strike) {
  const auto it = leases_.find(fence);
  if (it == leases_.end()) return;
  const Lease lease = it->second;
  Forget(fence);
  const std::shared_ptr<Pending>& pending = lease.pending;
  CrashPoint("tuner.release.before");
  const absl::Status released = store_->Release(pending->request.trial.id, fence);
  CrashPoint("tuner.release.after");
  if (!released.ok()) {
    // A new lease makes the old fence late all the same.
    spdlog::warn("releasing trial {}: {}", pending->request.trial.id, released.ToString());
  }
  if (pending->request.held) {
    MeasureReport report;
    report.kind = MeasureReport::Kind::kLost;
    report.fence = fence;
    report.worker = lease.worker;
    (void)pending->done(report);
    return;
  }
  if (is_strike) pending->strikes += 1;
  spdlog::info("trial {} is offered again: worker {} lost it", pending->request.trial.id,
               lease.worker);
  Enqueue(pending);
}

void Dispatcher::GiveUpPoison(const Pending& pending) {
  MeasureReport report;
  report.kind = MeasureReport::Kind::kPoison;
  report.fence = pending.request.trial.fence;
  report.worker = pending.request.trial.worker;
  report.message = fmt::format("{} times this candidate took a worker or its device down, {} last",
                               pending.strikes, report.worker);
  (void)pending.done(report);
}

void Dispatcher::DoTick() {
  const int64_t now = clock_->NowNs();
  std::vector<int64_t> overdue;
  for (const auto& [fence, lease] : leases_) {
    if (now >= lease.deadline_ns) overdue.push_back(fence);
  }
  for (const int64_t fence : overdue) LoseOverdue(fence);
  const int64_t silence = options_.heartbeat_interval_ns * options_.silent_intervals;
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    const auto session = it++;
    if (now - session->second.last_message_ns < silence) continue;
    session->second.link->Close(absl::DeadlineExceededError(
        fmt::format("no message for {} ms: the worker is taken for gone", silence / 1'000'000)));
    Detach(session);
  }
  if (now - last_heartbeat_ns_ >= options_.heartbeat_interval_ns) {
    last_heartbeat_ns_ = now;
    for (auto& [name, session] : sessions_) {
      v1::WorkResponse message;
      message.mutable_heartbeat();
      session.link->Send(std::move(message));
    }
  }
  UpdateServed();  // a quarantine may be over
  Match();
}

void Dispatcher::LoseOverdue(int64_t fence) {
  const auto it = leases_.find(fence);
  if (it == leases_.end()) return;
  const auto session = sessions_.find(it->second.worker);
  bool was_running = it->second.was_running;
  if (it->second.attached && session != sessions_.end()) {
    const DeviceState* device = FindDeviceOf(session->second, it->second.device);
    was_running = device != nullptr && !device->leases.empty() && device->leases.front() == fence;
    v1::WorkResponse message;
    message.mutable_revoke()->set_fence(fence);
    session->second.link->Send(std::move(message));
  }
  Lose(fence, was_running);
}

}  // namespace hone::tuner
