// What workers say, and what they are answered.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "support/crash_point.h"
#include "support/log.h"
#include "tuner/farm/assignment.h"
#include "tuner/farm/dispatcher.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::SettleResult;

void Dispatcher::Opened(std::shared_ptr<WorkerLink> link) {
  executor_->Post([this, link = std::move(link)] { strangers_[link] = clock_->NowNs(); });
}

void Dispatcher::Receive(std::shared_ptr<WorkerLink> link, v1::WorkRequest message) {
  executor_->Post([this, link = std::move(link), message = std::move(message)] {
    DoReceive(link, message);
    link->Taken();
  });
}

void Dispatcher::Closed(std::shared_ptr<WorkerLink> link) {
  executor_->Post([this, link = std::move(link)] {
    strangers_.erase(link);
    if (Session* const session = fleet_.Find(link.get())) End(*session, false);
  });
}

void Dispatcher::DoReceive(const std::shared_ptr<WorkerLink>& link,
                           const v1::WorkRequest& message) {
  Session* const session = fleet_.Find(link.get());
  // What was on its way when a stream was closed comes all the same: such a stream joins no more.
  if (message.has_hello() && strangers_.count(link) > 0) return Join(link, message.hello());
  if (session == nullptr) {
    return link->Close(absl::FailedPreconditionError(
        "expected Hello as the first message of a worker, found another"));
  }
  if (message.has_hello()) {
    link->Close(absl::FailedPreconditionError(fmt::format(
        "expected one Hello of worker {} on its stream, found a second one", session->worker())));
    return End(*session, false);
  }
  session->last_message_ns = clock_->NowNs();
  DoReceiveFrom(*session, message);
}

void Dispatcher::DoReceiveFrom(Session& session, const v1::WorkRequest& message) {
  switch (message.message_case()) {
    case v1::WorkRequest::kCredit:
      if (session.tells()) return;
      if (FleetDevice* const device = session.FindDevice(message.credit().device())) {
        device->window += message.credit().count();
      }
      return Match();
    case v1::WorkRequest::kWindow:
      if (!session.tells()) return;
      if (FleetDevice* const device = session.FindDevice(message.window().device())) {
        device->window = message.window().size();
      }
      UpdateServed();
      return Match();
    case v1::WorkRequest::kFetch:
      return TakeFetch(session, message.fetch().digest());
    case v1::WorkRequest::kResult:
      return TakeResult(session, message.result());
    case v1::WorkRequest::kHeartbeat:
      return TakeHeartbeat(session, message.heartbeat());
    case v1::WorkRequest::kDeviceUpdate:
      return TakeDeviceUpdate(session, message.device_update());
    case v1::WorkRequest::kDraining:
      session.is_draining = true;
      return UpdateServed();
    case v1::WorkRequest::kUndrained:
      return TakeUndrained(session, message.undrained());
    default:
      return;
  }
}

// ---- sessions ----

void Dispatcher::Join(const std::shared_ptr<WorkerLink>& link, const v1::Hello& hello) {
  strangers_.erase(link);
  const absl::Status fits = fleet_.MayJoin(hello, *link);
  const LogFields about({{"worker", hello.worker()}});
  if (!fits.ok()) {
    spdlog::warn("worker refused: {}", fits.ToString());
    link->Close(fits);
    return;
  }
  if (Session* const older = fleet_.Find(hello.worker())) {
    older->link->Close(
        absl::AbortedError(fmt::format("a newer stream of worker {} took over", hello.worker())));
    End(*older, true);
  }
  Session& session = fleet_.Join(link, hello);
  v1::WorkResponse message;
  v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_daemon(options_.daemon);
  welcome.set_protocol(session.protocol);
  welcome.set_heartbeat_interval_ns(options_.heartbeat_interval_ns);
  welcome.set_silence_limit_ns(options_.heartbeat_interval_ns * options_.silent_intervals);
  link->Send(std::move(message));
  spdlog::info("worker {} ({} devices, {} leases held, protocol {}) joined", hello.worker(),
               hello.devices_size(), hello.held_fences_size(), session.protocol);
  // A worker that is back has the results it names, and nothing else of what it was given.
  const std::set<int64_t> held(hello.held_fences().begin(), hello.held_fences().end());
  const LeaseManager::Returned returned =
      leases_.Attach(hello.worker(), hello.instance(), held, session.tells());
  for (const int64_t fence : returned.back) fleet_.Hold(session, leases_.Find(fence)->device());
  for (const int64_t fence : returned.lost) Lose(fence, leases_.Ran(*leases_.Find(fence)));
  UpdateServed();
  Match();
}

void Dispatcher::End(Session& session, bool taken_over) {
  const std::string worker = session.worker();
  const LogFields about({{"worker", worker}});
  spdlog::info("the stream of worker {} has ended", worker);
  artifacts_.Forget(session.link.get());
  leases_.Detach(worker, taken_over);
  fleet_.Leave(worker);
  AnswerUndrains(worker, absl::FailedPreconditionError(fmt::format(
                             "worker {} has left before the drain was taken back", worker)));
  UpdateServed();
}

void Dispatcher::TakeHeartbeat(Session& session, const v1::Heartbeat& heartbeat) {
  if (!session.tells()) return;
  for (const v1::Running& running : heartbeat.running()) {
    leases_.SeeRunning(session.worker(), running.device(), running.fence(), running.running_ns());
  }
}

void Dispatcher::TakeDeviceUpdate(Session& session, const v1::DeviceUpdate& update) {
  if (!session.tells()) return;
  const std::string worker = session.worker();
  const std::string& id = update.device().id();
  // The fleet is told before the device's leases are lost, for they are offered elsewhere then.
  const absl::Status updated = fleet_.Update(session, update);
  if (update.unplugged()) {
    const LogFields about({{"worker", worker}, {"device", id}});
    spdlog::warn("device {} of worker {} went: {}", id, worker, update.reason());
    for (const int64_t fence : leases_.OfDevice(worker, id)) {
      const Lease* const lease = leases_.Find(fence);
      if (lease != nullptr && !lease->is_settling) Lose(fence, false);
    }
  }
  if (!updated.ok()) {
    session.link->Close(updated);
    return End(session, false);
  }
  UpdateServed();
  Match();
}

// Where code was built twice, the bytes that are known may go before those of a lease.
void Dispatcher::PutWhatLeasesHold(const std::string& worker, const std::string& digest) {
  for (const int64_t fence : leases_.Needing(worker, digest)) {
    const MeasureRequest& request = leases_.Find(fence)->pending->request;
    const auto put = [&](const Artifact& artifact) {
      if (artifact.digest == digest) artifacts_.Put(artifact);
    };
    std::for_each(request.candidates.begin(), request.candidates.end(), put);
    put(request.reference);
    put(request.anchor);
  }
}

void Dispatcher::TakeFetch(Session& session, const std::string& digest) {
  if (!artifacts_.Has(digest)) PutWhatLeasesHold(session.worker(), digest);
  const absl::Status served = artifacts_.Serve(session.link, digest);
  if (absl::IsResourceExhausted(served)) {
    session.link->Close(served);
    return End(session, false);
  }
  if (served.ok()) return;
  // The worker drops what needs it.
  for (const int64_t fence : leases_.Needing(session.worker(), digest)) Lose(fence, false);
}

// ---- results ----

void Dispatcher::TakeResult(Session& session, const v1::MeasureResult& result) {
  const int64_t fence = result.fence();
  const std::string worker = session.worker();
  Lease* const lease = leases_.Find(fence);
  // The store holds the fence until its release is committed, and what it was compared with is
  // gone.
  if (releases_.Has(fence)) return Answer(worker, fence, SettleResult::kRefused);
  if (lease == nullptr) {
    const FleetDevice* const device = DeviceOfResult(session, result, "");
    StrayResult stray{worker, std::nullopt, session.protocol, result};
    if (device != nullptr) stray.device = device->info;
    Measured measured{worker, device == nullptr ? "" : device->info.id(), OutcomeOf(result),
                      clock_->NowNs()};
    strays_.Settle(std::move(stray),
                   [this, measured, fence](const absl::StatusOr<SettleResult>& settled,
                                           const std::string& why) {
                     OnStraySettled(fence, measured, settled, why);
                   });
    return;
  }
  const LogFields about({{"worker", worker}, {"fence", fence}});
  if (lease->worker != worker) {
    spdlog::warn("worker {} sent a result under fence {}, which is worker {}'s", worker, fence,
                 lease->worker);
    return Answer(worker, fence, SettleResult::kRefused, "it is another worker's");
  }
  if (lease->is_settling) return;  // the answer is on its way
  const FleetDevice* const device = DeviceOfResult(session, result, lease->device());
  const int64_t held_ns =
      lease->pending->request.held ? lease->limit_ns : clock_->NowNs() - lease->offered_ns;
  // What says that its device is lost says nothing else that could be believed or not.
  const std::string lost = WhyLost(result);
  const std::string why_lost =
      lost.empty() ? FirstDifference(lease->assignment, device == nullptr ? nullptr : &device->info,
                                     session.protocol, held_ns, result)
                   : lost;
  if (!why_lost.empty()) {
    LoseDevice(fence, leases_.Ran(*lease), why_lost);
    Answer(worker, fence, SettleResult::kRefused, why_lost);
    return Match();
  }
  if (IsDoubted(*lease, worker, result)) {
    lease->pending->avoid.insert(worker);
    Lose(fence, false);
    Answer(worker, fence, SettleResult::kRefused, "somebody else is asked about the reference");
    return Match();
  }
  lease->is_settling = true;
  MeasureReport report;
  report.fence = fence;
  report.worker = worker;
  report.result = result;
  CrashPoint("tuner.settle.before");
  lease->pending->done(
      report, [this, mailbox = mailbox_, fence,
               measured = Measured{worker, lease->device(), OutcomeOf(result), clock_->NowNs()}](
                  absl::StatusOr<SettleResult> settled) {
        mailbox->Post([this, measured, fence, settled] {
          CrashPoint("tuner.settle.after");
          OnSettled(fence, measured, settled);
        });
      });
}

bool Dispatcher::IsDoubted(const Lease& lease, const std::string& worker,
                           const v1::MeasureResult& result) {
  const std::string& workload = lease.pending->request.workload_digest;
  const bool has_none = std::any_of(
      result.candidates().begin(), result.candidates().end(), [](const auto& candidate) {
        return candidate.outcome() == v1::MEASURE_OUTCOME_NO_REFERENCE;
      });
  if (has_none) return !doubts_.IsBelieved(workload, worker);
  if (ProvesReference(lease.assignment, result)) doubts_.Forget(workload);
  return false;
}

// `known` is the lease's device; a worker of protocol 2 does not say which the result is of.
const FleetDevice* Dispatcher::DeviceOfResult(Session& session, const v1::MeasureResult& result,
                                              const std::string& known) {
  if (!known.empty()) return session.FindDevice(known);
  if (!result.device().empty()) return session.FindDevice(result.device());
  for (const auto& [id, device] : session.devices) {
    if (device.info.fingerprint() == result.device_fingerprint()) return &device;
  }
  return nullptr;
}

void Dispatcher::Count(const Measured& measured, SettleResult settled) {
  if (settled != SettleResult::kSettled) return;
  fleet_.histories().Settled(measured.worker, measured.device, measured.outcome);
  counts_.settled[measured.outcome] += 1;
  counts_.settle_seconds.Add(static_cast<double>(clock_->NowNs() - measured.since_ns) * 1e-9);
  if (Session* const session = fleet_.Find(measured.worker)) session->settled += 1;
}

void Dispatcher::OnSettled(int64_t fence, const Measured& measured,
                           const absl::StatusOr<SettleResult>& settled) {
  const std::string& worker = measured.worker;
  Lease* const lease = leases_.Find(fence);
  if (!settled.ok()) {
    // Not acknowledged: the worker keeps it and offers it again when it comes back. Its device did
    // what it had to and is free, and whoever asked knows that the store failed.
    spdlog::error("settling under fence {}: {}", fence, settled.status().ToString());
    if (lease != nullptr) Close(fence);
    return Match();
  }
  Count(measured, *settled);
  if (lease != nullptr) {
    const std::string device = lease->device();
    Close(fence);
    if (fleet_.Measured(worker, device)) StoreHealth(worker, device);
  }
  Answer(worker, fence, *settled);
  Match();
}

void Dispatcher::OnStraySettled(int64_t fence, const Measured& measured,
                                const absl::StatusOr<SettleResult>& settled,
                                const std::string& why) {
  if (!settled.ok()) {
    spdlog::error("settling under fence {}: {}", fence, settled.status().ToString());
    return;
  }
  Count(measured, *settled);
  Answer(measured.worker, fence, *settled, why);
  // It may have been taken up meanwhile.
  const Lease* const lease = leases_.Find(fence);
  if (lease == nullptr || lease->worker != measured.worker || lease->is_settling) return;
  if (*settled == SettleResult::kRefused) return Lose(fence, false);
  const std::shared_ptr<PendingTrial> pending = Close(fence).pending;
  MeasureReport report;
  report.kind = MeasureReport::Kind::kSettled;
  report.fence = fence;
  report.worker = measured.worker;
  if (!pending->is_cancelled) pending->done(report, nullptr);
  Match();
}

void Dispatcher::Answer(const std::string& worker, int64_t fence, SettleResult settled,
                        const std::string& reason) {
  leases_.Answered(worker, fence);
  Session* const session = fleet_.Find(worker);
  if (session == nullptr) return;
  if (settled == SettleResult::kRefused) return Revoke(worker, fence, reason);
  v1::WorkResponse message;
  message.mutable_acknowledge()->set_fence(fence);
  CrashPoint("tuner.acknowledge.before");
  session->link->Send(std::move(message));
  CrashPoint("tuner.acknowledge.after");
}

}  // namespace hone::tuner
