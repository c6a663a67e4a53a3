// What workers say, and who they are.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "runtime/module_abi.h"
#include "support/crash_point.h"
#include "support/status.h"
#include "tuner/farm/dispatcher.h"
#include "tuner/measure_record.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::SettleResult;

namespace {
constexpr uint32_t kProtocol = 2;  // 2: rotation_bytes and regime instead of cold_constants
constexpr uint64_t kChunkBytes = uint64_t{1} << 20;

absl::Status NameTaken(const v1::Hello& by) {
  return absl::AlreadyExistsError(fmt::format(
      "the name {} is taken by another worker that is connected ({}); give this one a name of its "
      "own by --name",
      by.worker(), by.instance().empty() ? by.build() : by.instance()));
}
}  // namespace

void Dispatcher::Receive(std::shared_ptr<WorkerLink> link, v1::WorkRequest message) {
  executor_->Post(
      [this, link = std::move(link), message = std::move(message)] { DoReceive(link, message); });
}

void Dispatcher::Closed(std::shared_ptr<WorkerLink> link) {
  executor_->Post([this, link = std::move(link)] {
    const auto session = FindSession(link.get());
    if (session != sessions_.end()) Detach(session);
  });
}

void Dispatcher::DoReceive(const std::shared_ptr<WorkerLink>& link,
                           const v1::WorkRequest& message) {
  if (message.has_hello()) {
    Welcome(link, message.hello());
    return;
  }
  const auto it = FindSession(link.get());
  if (it == sessions_.end()) {
    link->Close(absl::FailedPreconditionError(
        "the first message of a worker must be Hello; this stream has none that was accepted"));
    return;
  }
  Session& session = it->second;
  session.last_message_ns = clock_->NowNs();
  if (message.has_credit()) {
    DeviceState* device = FindDeviceOf(session, message.credit().device());
    if (device != nullptr) device->credit += message.credit().count();
    Match();
  } else if (message.has_fetch()) {
    SendArtifact(session, message.fetch().digest());
  } else if (message.has_result()) {
    TakeResult(session, message.result());
  } else if (message.has_draining()) {
    session.draining = true;
    UpdateServed();
  }
}

absl::Status Dispatcher::Check(const v1::Hello& hello) const {
  if (hello.worker().empty()) {
    return absl::InvalidArgumentError("a worker needs a name that is unique on the farm");
  }
  if (hello.min_protocol() > kProtocol || hello.max_protocol() < kProtocol) {
    return absl::FailedPreconditionError(fmt::format(
        "worker {} speaks the farm protocol {} to {}, this daemon {}; install the same release",
        hello.worker(), hello.min_protocol(), hello.max_protocol(), kProtocol));
  }
  if (hello.artifact_abi() != HONE_MODULE_ABI_VERSION) {
    return absl::FailedPreconditionError(fmt::format(
        "worker {} runs artifacts of ABI {}, this daemon builds ABI {}; install the same release",
        hello.worker(), hello.artifact_abi(), HONE_MODULE_ABI_VERSION));
  }
  return absl::OkStatus();
}

void Dispatcher::Welcome(const std::shared_ptr<WorkerLink>& link, const v1::Hello& hello) {
  const absl::Status fits = Check(hello);
  if (!fits.ok()) {
    spdlog::warn("worker refused: {}", fits.ToString());
    link->Close(fits);
    return;
  }
  const auto older = sessions_.find(hello.worker());
  // Two without an instance, of the release before, may be one that is back.
  if (older != sessions_.end() && older->second.hello.instance() != hello.instance()) {
    const absl::Status taken = NameTaken(older->second.hello);
    spdlog::warn("worker refused: {}", taken.ToString());
    link->Close(taken);
    return;
  }
  // Workers that do not come back are not remembered for ever.
  std::erase_if(health_, [&](const auto& item) {
    const auto& [device, health] = item;
    return sessions_.count(device.first) == 0 && device.first != hello.worker() &&
           !health.IsQuarantined(clock_->NowNs());
  });
  if (older != sessions_.end()) {
    older->second.link->Close(
        absl::AbortedError(fmt::format("a newer stream of worker {} took over", hello.worker())));
    Detach(older);
  }
  Session session;
  session.link = link;
  session.hello = hello;
  session.last_message_ns = clock_->NowNs();
  for (const v1::Device& device : hello.devices()) session.devices[device.id()].info = device;
  sessions_[hello.worker()] = std::move(session);
  v1::WorkResponse message;
  v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_daemon(options_.daemon);
  welcome.set_protocol(kProtocol);
  welcome.set_heartbeat_interval_ns(options_.heartbeat_interval_ns);
  link->Send(std::move(message));
  spdlog::info("worker {} ({} devices, {} results held) joined", hello.worker(),
               hello.devices_size(), hello.held_fences_size());
  Reconcile(hello);
  UpdateServed();
  Match();
}

// A worker that is back has the results it names, and nothing else of what it was given.
void Dispatcher::Reconcile(const v1::Hello& hello) {
  const std::set<int64_t> held(hello.held_fences().begin(), hello.held_fences().end());
  std::vector<int64_t> lost;
  for (auto& [fence, lease] : leases_) {
    if (lease.worker != hello.worker() || lease.attached) continue;
    if (held.count(fence) == 0) {
      lost.push_back(fence);
      continue;
    }
    lease.attached = true;
    // Its result follows, at the latest when it has run: it may be running still.
    lease.deadline_ns = clock_->NowNs() + LimitNs(lease.pending->request);
  }
  for (const int64_t fence : lost) Lose(fence, leases_[fence].was_running);
}

void Dispatcher::Detach(Sessions::iterator session) {
  spdlog::info("the stream of worker {} has ended", session->first);
  const int64_t deadline = clock_->NowNs() + options_.grace_ns;
  for (auto& [fence, lease] : leases_) {
    if (lease.worker != session->first || !lease.attached) continue;
    const DeviceState* device = FindDeviceOf(session->second, lease.device);
    lease.was_running =
        device != nullptr && !device->leases.empty() && device->leases.front() == fence;
    lease.attached = false;
    lease.deadline_ns = deadline;
  }
  sessions_.erase(session);
  UpdateServed();
}

void Dispatcher::SendArtifact(Session& session, const std::string& digest) {
  const std::shared_ptr<const std::string> bytes = artifacts_.Find(digest);
  uint64_t offset = 0;
  do {
    v1::WorkResponse message;
    v1::ArtifactChunk& chunk = *message.mutable_chunk();
    chunk.set_digest(digest);
    if (bytes == nullptr) {
      chunk.set_missing(true);
      session.link->Send(std::move(message));
      return;
    }
    chunk.set_total_bytes(bytes->size());
    chunk.set_offset(offset);
    chunk.set_data(bytes->substr(offset, kChunkBytes));
    offset += chunk.data().size();
    session.link->Send(std::move(message));
  } while (offset < bytes->size());
}

namespace {

// Empty, or why the result says nothing about its candidates: the device failed, or its worker does
// not speak as it should.
std::string WhyLost(const v1::MeasureResult& result) {
  if (result.candidates_size() == 0) return "the result has no candidates";
  for (const v1::CandidateResult& candidate : result.candidates()) {
    if (candidate.outcome() == v1::MEASURE_OUTCOME_DEVICE_LOST) {
      return candidate.message().empty() ? "no reason given" : candidate.message();
    }
    if (candidate.outcome() == v1::MEASURE_OUTCOME_UNSPECIFIED ||
        !v1::MeasureOutcome_IsValid(candidate.outcome())) {
      return fmt::format("the result has an unknown outcome, {}",
                         static_cast<int>(candidate.outcome()));
    }
  }
  return "";
}

// The same, where the request is known.
std::string WhyLost(const MeasureRequest& request, const v1::MeasureResult& result) {
  if (result.trial() != request.trial.id) {
    return fmt::format("the result is of trial {}, the lease of trial {}", result.trial(),
                       request.trial.id);
  }
  const size_t count = static_cast<size_t>(result.candidates_size());
  if (!request.held && count > 0 && count != request.candidates.size()) {
    return fmt::format("the result has {} candidates, the lease {}", count,
                       request.candidates.size());
  }
  return WhyLost(result);
}

}  // namespace

void Dispatcher::TakeResult(Session& session, const v1::MeasureResult& result) {
  const int64_t fence = result.fence();
  const std::string worker = session.hello.worker();
  const auto it = leases_.find(fence);
  if (it == leases_.end()) return TakeUnknownResult(session, result);
  if (it->second.worker != worker) {
    spdlog::warn("worker {} sent a result under fence {}, which is worker {}'s", worker, fence,
                 it->second.worker);
    return Answer(session, fence, SettleResult::kRefused);
  }
  const Lease lease = it->second;
  const std::string why_lost = WhyLost(lease.pending->request, result);
  if (!why_lost.empty()) return TakeDeviceLost(session, result, why_lost);
  MeasureReport report;
  report.fence = fence;
  report.worker = worker;
  report.result = result;
  CrashPoint("tuner.settle.before");
  const absl::StatusOr<SettleResult> settled = lease.pending->done(report);
  CrashPoint("tuner.settle.after");
  if (!settled.ok()) {
    // Not acknowledged: the worker keeps it and offers it again when it comes back.
    spdlog::error("settling trial {}: {}", result.trial(), settled.status().ToString());
    return;
  }
  session.settled += *settled == SettleResult::kSettled;
  Trust(lease);
  Forget(fence);
  Answer(session, fence, *settled);
  Match();
}

void Dispatcher::TakeDeviceLost(Session& session, const v1::MeasureResult& result,
                                const std::string& why) {
  const std::string& worker = session.hello.worker();
  const Lease lease = leases_[result.fence()];
  const int64_t trial = lease.pending->request.trial.id;
  spdlog::warn("worker {} lost its device {} under trial {}: {}", worker, lease.device, trial, why);
  lease.pending->avoid.insert(worker);
  if (!lease.device.empty()) {  // known, unless it was leased in an earlier life of the daemon
    DeviceHealth& health = health_[{worker, lease.device}];
    health.Lost(options_.quarantine, trial, clock_->NowNs(), why);
    if (health.LostOnlyUnder(trial) >= options_.poison_limit) {
      lease.pending->strikes = options_.poison_limit;
    }
  }
  Lose(result.fence(), false);
  Answer(session, result.fence(), SettleResult::kDuplicate);
  UpdateServed();
  Match();
}

void Dispatcher::Trust(const Lease& lease) {
  const auto health = health_.find({lease.worker, lease.device});
  if (health == health_.end()) return;
  const std::set<int64_t> suspects = health->second.Measured();
  health_.erase(health);
  for (const std::shared_ptr<Pending>& pending : queue_) {
    pending->strikes += suspects.count(pending->request.trial.id) > 0;
  }
  for (const auto& [fence, other] : leases_) {
    other.pending->strikes +=
        other.pending != lease.pending && suspects.count(other.pending->request.trial.id) > 0;
  }
}

// Of an earlier life of the daemon, a duplicate, or too late: the store knows.
void Dispatcher::TakeUnknownResult(Session& session, const v1::MeasureResult& result) {
  if (!WhyLost(result).empty()) return Answer(session, result.fence(), SettleResult::kDuplicate);
  const absl::StatusOr<SettleResult> settled = SettleUnknown(session.hello.worker(), result);
  if (!settled.ok()) {
    spdlog::error("settling trial {}: {}", result.trial(), settled.status().ToString());
    return;
  }
  Answer(session, result.fence(), *settled);
}

absl::StatusOr<SettleResult> Dispatcher::SettleUnknown(const std::string& worker,
                                                       const v1::MeasureResult& result) {
  HONE_ASSIGN_OR_RETURN(const std::vector<tuning_db::Trial> open, store_->OpenTrials(0));
  const auto trial =
      std::find_if(open.begin(), open.end(), [&](const auto& t) { return t.id == result.trial(); });
  // A final needs more than its record, a calibration its anchor, and a task without a reference
  // more than a settled trial: all are begun again by those who want them.
  const bool is_whole = result.candidates_size() == 1 &&
                        result.candidates(0).outcome() != v1::MEASURE_OUTCOME_NO_REFERENCE;
  if (trial != open.end() &&
      (trial->worker != worker || trial->purpose == tuning_db::Purpose::kConfirm || !is_whole)) {
    return SettleResult::kRefused;
  }
  tuning_db::Record record = ToRecord(result.trial(), result.candidates(0));
  record.worker = worker;
  record.device = result.device_fingerprint();
  record.artifact_digest = result.candidates(0).artifact_digest();
  record.toolchain = result.candidates(0).toolchain();
  record.wall_time_ns = clock_->WallTimeNs();
  const absl::StatusOr<SettleResult> settled = store_->Settle(result.fence(), record);
  if (absl::IsNotFound(settled.status())) return SettleResult::kRefused;
  return settled;
}

void Dispatcher::Answer(Session& session, int64_t fence, SettleResult settled) {
  v1::WorkResponse message;
  if (settled == SettleResult::kRefused) {
    message.mutable_revoke()->set_fence(fence);
    session.link->Send(std::move(message));
    return;
  }
  message.mutable_acknowledge()->set_fence(fence);
  CrashPoint("tuner.acknowledge.before");
  session.link->Send(std::move(message));
  CrashPoint("tuner.acknowledge.after");
}

void Dispatcher::ListWorkers(std::function<void(std::vector<v1::WorkerInfo>)> done) {
  executor_->Post([this, done = std::move(done)] {
    std::vector<v1::WorkerInfo> workers;
    for (const auto& [name, session] : sessions_) {
      v1::WorkerInfo& info = workers.emplace_back();
      info.set_worker(name);
      info.set_instance(session.hello.instance());
      info.set_build(session.hello.build());
      info.set_sandbox(session.hello.sandbox());
      uint64_t leased = 0;
      for (const auto& [id, device] : session.devices) {
        *info.add_devices() = device.info;
        leased += device.leases.size();
        const std::string reason = HealthOf(name, id).Reason(clock_->NowNs());
        if (!reason.empty()) (*info.mutable_quarantined())[id] = reason;
      }
      info.set_settled(session.settled);
      info.set_leased(leased);
      info.set_draining(session.draining);
      info.set_since_last_message_ns(clock_->NowNs() - session.last_message_ns);
    }
    done(std::move(workers));
  });
}

void Dispatcher::DrainWorker(const std::string& worker, std::function<void(absl::Status)> done) {
  executor_->Post([this, worker, done = std::move(done)] {
    const auto it = sessions_.find(worker);
    if (it == sessions_.end()) {
      done(absl::NotFoundError(
          fmt::format("no worker {} is connected; `hone worker list` shows who is", worker)));
      return;
    }
    it->second.draining = true;
    UpdateServed();
    v1::WorkResponse message;
    message.mutable_drain();
    it->second.link->Send(std::move(message));
    done(absl::OkStatus());
  });
}

Dispatcher::Sessions::iterator Dispatcher::FindSession(const WorkerLink* link) {
  return std::find_if(sessions_.begin(), sessions_.end(),
                      [&](const auto& item) { return item.second.link.get() == link; });
}

Dispatcher::DeviceState* Dispatcher::FindDeviceOf(Session& session, const std::string& device) {
  const auto it = session.devices.find(device);
  return it == session.devices.end() ? nullptr : &it->second;
}

}  // namespace hone::tuner
