// Requests and offers, and how leases end. What workers say is in dispatcher_messages.cc, how
// devices fare in dispatcher_health.cc, what operators say and see in dispatcher_operators.cc.
#include "tuner/farm/dispatcher.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "support/crash_point.h"
#include "support/log.h"
#include "tuner/farm/assignment.h"
#include "tuner/farm/device_requirements.h"
#include "tuner/farm/store_batch.h"
#include "tuner/store_error.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::Trial;

namespace {

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

Dispatcher::Dispatcher(DispatcherOptions options, tuning_db::Store* store, const Clock* clock,
                       Executor* executor, std::function<void()> on_devices_changed)
    : options_(std::move(options)),
      store_(store),
      clock_(clock),
      executor_(executor),
      mailbox_(std::make_shared<Mailbox>(executor)),
      on_devices_changed_(std::move(on_devices_changed)),
      fleet_(clock, options_.quarantine, options_.sandbox),
      leases_(clock, options_.grace_ns),
      artifacts_(options_.artifact_bytes, mailbox_),
      strays_(store, clock, mailbox_),
      doubts_(clock),
      releases_(store, options_.ownership, mailbox_, [this] { Match(); }) {
  LoadHealth();
}

Dispatcher::~Dispatcher() { mailbox_->Close(); }

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
    while (!fleet_.sessions().empty()) {
      const auto& [worker, session] = *fleet_.sessions().begin();
      session.link->Close(absl::UnavailableError("the daemon stops"));
      artifacts_.Forget(session.link.get());
      AnswerUndrains(worker, absl::UnavailableError("the daemon stops"));
      fleet_.Leave(std::string(worker));
    }
    UpdateServed();
  });
}

void Dispatcher::Tick() {
  executor_->Post([this] { DoTick(); });
}

// ---- requests ----

void Dispatcher::DoMeasure(MeasureRequest request, MeasureCallback done) {
  auto pending = std::make_shared<PendingTrial>();
  pending->request = std::move(request);
  pending->done = std::move(done);
  pending->strikes = pending->request.trial.strikes;
  const MeasureRequest& r = pending->request;
  if (r.held) return TakeUp(pending);
  for (const Artifact& candidate : r.candidates) artifacts_.Put(candidate);
  artifacts_.Put(r.reference);
  artifacts_.Put(r.anchor);
  Enqueue(std::move(pending));
  Match();
}

void Dispatcher::TakeUp(const std::shared_ptr<PendingTrial>& pending) {
  const Trial& trial = pending->request.trial;
  if (releases_.Has(trial.fence)) {  // it ended just now, and whoever asks did not know
    underway_[trial.id] = pending;
    return releases_.Add(trial.id, trial.fence, false,
                         [this, pending, fence = trial.fence, worker = trial.worker] {
                           OnReleased(pending, fence, worker);
                         });
  }
  Lease lease;
  lease.pending = pending;
  lease.worker = trial.worker;
  lease.limit_ns = trial.limit_ns;
  lease.assignment = FromLease(trial);
  // Nothing can be compared with what was assigned of an older release's lease, or nobody's.
  const bool is_known = lease.assignment.candidates_size() > 0;
  const std::string device = lease.device();
  const LeaseManager::Held held = leases_.OpenHeld(std::move(lease));
  Session* const session = fleet_.Find(trial.worker);
  if (held == LeaseManager::Held::kBack && session != nullptr) fleet_.Hold(*session, device);
  if (!is_known || held == LeaseManager::Held::kLost) Lose(trial.fence, false);
}

void Dispatcher::DoCancel(int64_t trial) {
  if (const FairQueue::Entry waiting = queues_.Remove(trial)) waiting->is_cancelled = true;
  const auto underway = underway_.find(trial);
  if (underway != underway_.end()) underway->second->is_cancelled = true;
  const int64_t fence = leases_.FenceOf(trial);
  if (fence == 0) return;
  Revoke(leases_.Find(fence)->worker, fence, "nobody wants it any more");
  Close(fence).pending->is_cancelled = true;
  // Who cancels it may have left it to be measured another time.
  releases_.Add(trial, fence, false, nullptr);
  Match();
}

void Dispatcher::Enqueue(std::shared_ptr<PendingTrial> pending) {
  if (pending->is_cancelled) return;
  if (pending->strikes >= options_.poison_limit) return GiveUpPoison(*pending);
  queues_.Push(std::move(pending));
}

void Dispatcher::GiveUpPoison(const PendingTrial& pending) {
  MeasureReport report;
  report.kind = MeasureReport::Kind::kPoison;
  report.fence = pending.request.trial.fence;
  report.worker = pending.request.trial.worker;
  report.message = fmt::format("{} times this candidate took a worker or its device down, {} last",
                               pending.strikes, report.worker);
  pending.done(report, nullptr);
}

// ---- offers ----

void Dispatcher::Match() {
  if (!leasing_) return;
  const auto has_room = [this](const DeviceNeed& need) { return fleet_.HasRoom(need); };
  while (FairQueue::Entry pending = queues_.PopNext(has_room)) {
    const MeasureRequest& request = pending->request;
    const DeviceOf to = fleet_.Choose(request.Need(), pending->avoid);
    fleet_.Take(*to.device);
    underway_[request.trial.id] = pending;
    offers_.push_back({pending, to.session->worker(), to.device->info.id(), to.session->link,
                       LeaseLimitNs(request, options_.lease_slack_ns)});
  }
  AskForLeases();
}

void Dispatcher::AskForLeases() {
  while (!offers_.empty() && !asks_at_tick_) {
    const auto end = offers_.begin() + std::min<std::ptrdiff_t>(kMostABatch, std::ssize(offers_));
    const std::vector<Offer> batch(offers_.begin(), end);
    std::vector<tuning_db::LeaseRequest> requests;
    for (const Offer& offer : batch) {
      requests.push_back({.trial = offer.pending->request.trial.id,
                          .worker = offer.worker,
                          .device = offer.device,
                          .limit_ns = offer.limit_ns,
                          .assigned = ToAssigned(offer.pending->request),
                          .ownership = options_.ownership});
    }
    CrashPoint("tuner.lease.before");
    const absl::Status begun = store_->LeaseMany(
        std::move(requests),
        [this, mailbox = mailbox_, batch](tuning_db::TrialStore::LeaseAnswers answers) {
          mailbox->Post([this, batch, answers = std::move(answers)] {
            CrashPoint("tuner.lease.after");
            for (size_t i = 0; i < batch.size(); ++i) OnLeased(batch[i], answers.at(i));
          });
        });
    offers_.erase(offers_.begin(), end);
    if (begun.ok()) continue;
    for (const Offer& offer : batch) OnLeased(offer, begun);
  }
}

void Dispatcher::OnLeased(const Offer& offer, const absl::StatusOr<Trial>& leased) {
  const std::shared_ptr<PendingTrial>& pending = offer.pending;
  const int64_t trial = pending->request.trial.id;
  Arrive(pending);
  Session* const session = fleet_.Find(offer.link.get());
  FleetDevice* const device = session == nullptr ? nullptr : session->FindDevice(offer.device);
  if (leased.ok()) {
    pending->request.trial = *leased;
    pending->strikes = std::max(pending->strikes, leased->strikes);
  }
  const bool is_here = device != nullptr && !device->is_away;
  const bool is_poison = pending->strikes >= options_.poison_limit;
  if (leased.ok() && is_here && !pending->is_cancelled && !is_poison) {
    return Assign(offer, *leased, *session);
  }
  if (!leased.ok() && Passes(leased.status()) && device != nullptr && !pending->is_cancelled) {
    underway_[trial] = pending;
    offers_.push_back(offer);
    if (std::exchange(asks_at_tick_, true)) return;
    return spdlog::warn("leases are asked for at the next tick: {}", leased.status().ToString());
  }
  if (device != nullptr) fleet_.TakeBack(*device);
  if (absl::IsFailedPrecondition(leased.status()) || absl::IsAborted(leased.status())) {
    MeasureReport report;
    report.kind = absl::IsAborted(leased.status()) ? MeasureReport::Kind::kForeign
                                                   : MeasureReport::Kind::kSettled;
    if (!pending->is_cancelled) pending->done(report, nullptr);
    return;
  }
  if (!leased.ok()) {
    spdlog::error("trial {} waits: {}", trial, leased.status().ToString());
    return Enqueue(pending);
  }
  // Where a cancelled trial was settled meanwhile, that was under a newer fence than this one.
  if (!pending->is_cancelled) underway_[trial] = pending;
  releases_.Add(trial, leased->fence, false, [this, pending, fence = leased->fence, offer] {
    OnReleased(pending, fence, offer.worker);
  });
}

void Dispatcher::Assign(const Offer& offer, const Trial& leased, Session& session) {
  Lease lease;
  lease.pending = offer.pending;
  lease.assignment = ToAssignment(offer.pending->request, leased, offer.device, offer.limit_ns);
  const MeasureRequest& request = offer.pending->request;
  *lease.assignment.mutable_requirements() =
      RequirementsOf(request.target, std::max(request.sandbox, options_.sandbox));
  lease.worker = offer.worker;
  lease.instance = session.hello.instance();
  lease.limit_ns = offer.limit_ns;
  const Lease& open = leases_.Open(std::move(lease));
  v1::WorkResponse message;
  *message.mutable_assignment() = open.assignment;
  CrashPoint("tuner.offer.before");
  session.link->Send(std::move(message));
  CrashPoint("tuner.offer.after");
}

// ---- ends ----

Lease Dispatcher::Close(int64_t fence) {
  Lease lease = leases_.Close(fence);
  if (!lease.away_until_ns) fleet_.Give(lease.worker, lease.device());
  counts_.lease_seconds.Add(Seconds(clock_->NowNs() - lease.offered_ns));
  return lease;
}

void Dispatcher::Arrive(const std::shared_ptr<PendingTrial>& pending) {
  const auto it = underway_.find(pending->request.trial.id);
  if (it != underway_.end() && it->second == pending) underway_.erase(it);
}

void Dispatcher::Lose(int64_t fence, bool is_strike) {
  const Lease lease = Close(fence);
  counts_.leases_lost += 1;
  const std::shared_ptr<PendingTrial>& pending = lease.pending;
  const int64_t trial = pending->request.trial.id;
  if (is_strike) pending->strikes += 1;
  const bool is_poison = pending->strikes >= options_.poison_limit;
  if (!pending->is_cancelled) {
    underway_[trial] = pending;
    const LogFields about({{"worker", lease.worker}, {"trial", trial}, {"fence", fence}});
    spdlog::info("worker {} lost trial {}, which is {}", lease.worker, trial,
                 is_poison ? "given up" : "offered again");
  }
  releases_.Add(trial, fence, is_strike, [this, pending, fence, worker = lease.worker] {
    OnReleased(pending, fence, worker);
  });
}

void Dispatcher::OnReleased(const std::shared_ptr<PendingTrial>& pending, int64_t fence,
                            const std::string& worker) {
  Arrive(pending);
  if (pending->is_cancelled) return;
  if (!pending->request.held) return Enqueue(pending);
  MeasureReport report;
  report.kind = MeasureReport::Kind::kLost;
  report.fence = fence;
  report.worker = worker;
  pending->done(report, nullptr);
}

void Dispatcher::LoseDevice(int64_t fence, bool ran, const std::string& why) {
  const Lease& lease = *leases_.Find(fence);
  const std::string worker = lease.worker;
  const std::string device = lease.device();
  const int64_t trial = lease.assignment.trial();
  const LogFields about({{"worker", worker}, {"device", device}, {"trial", trial}});
  spdlog::warn("worker {} lost its device {} under trial {}: {}", worker, device, trial, why);
  lease.pending->avoid.insert(worker);
  bool is_strike = false;
  fleet_.histories().Lost(worker, device);
  if (!device.empty()) {  // known, unless it was leased in an earlier life of the daemon
    const int64_t rests = fleet_.HealthOf(worker, device).rests();
    is_strike = fleet_.Lost(worker, device, trial, why) && ran;
    if (fleet_.HealthOf(worker, device).rests() != rests) StoreHealth(worker, device);
  }
  Lose(fence, is_strike);
  UpdateServed();
}

void Dispatcher::LoseOverdue(int64_t fence) {
  const Lease* const lease = leases_.Find(fence);
  if (lease == nullptr) return;
  if (lease->away_until_ns) return Lose(fence, leases_.Ran(*lease));
  const std::string worker = lease->worker;
  const std::string device = lease->device();
  const char* const what = lease->started_ns ? "it ran for more than"
                           : lease->began_ns ? "its result did not come within"
                                             : "the device did not begin it within";
  const std::string why =
      fmt::format("{} the {} s of its lease", what, lease->limit_ns / 1'000'000'000);
  std::vector<int64_t> waiting;
  for (const int64_t other : leases_.OfDevice(worker, device)) {
    const Lease& beside = *leases_.Find(other);
    if (other != fence && !beside.started_ns && !beside.is_settling) waiting.push_back(other);
  }
  Revoke(worker, fence, why);
  LoseDevice(fence, leases_.Ran(*lease), why);
  // A device that hangs does not get to what waits for it.
  for (const int64_t other : waiting) {
    Revoke(worker, other, "it waited for a device that is overdue");
    Lose(other, false);
  }
}

void Dispatcher::Revoke(const std::string& worker, int64_t fence, const std::string& reason) {
  Session* const session = fleet_.Find(worker);
  if (session == nullptr) return;
  v1::WorkResponse message;
  message.mutable_revoke()->set_fence(fence);
  message.mutable_revoke()->set_reason(reason);
  session->link->Send(std::move(message));
}

// ---- time ----

void Dispatcher::DoTick() {
  const int64_t now_ns = clock_->NowNs();
  for (const int64_t fence : leases_.Overdue()) LoseOverdue(fence);
  asks_at_tick_ = false;
  for (const auto& [worker, device] : std::exchange(unstored_health_, {})) {
    StoreHealth(worker, device);
  }
  releases_.Ask();
  strays_.TryAgain();
  EndSilent(now_ns);
  GiveUpUndrains(now_ns);
  SendHeartbeats(now_ns);
  UpdateServed();  // a quarantine may be over
  Match();
}

void Dispatcher::EndSilent(int64_t now_ns) {
  const int64_t silence = options_.heartbeat_interval_ns * options_.silent_intervals;
  std::vector<Session*> silent;
  for (auto& [worker, session] : fleet_.sessions()) {
    if (now_ns - session.last_message_ns >= silence) silent.push_back(&session);
  }
  for (Session* const session : silent) {
    session->link->Close(absl::DeadlineExceededError(
        fmt::format("no message for {} ms: the worker is taken for gone", silence / 1'000'000)));
    End(*session, false);
  }
  for (auto it = strangers_.begin(); it != strangers_.end();) {
    const auto& [link, since_ns] = *it;
    if (now_ns - since_ns < options_.hello_limit_ns) {
      ++it;
      continue;
    }
    link->Close(absl::DeadlineExceededError(
        fmt::format("expected Hello within {} ms of dialling, found none",
                    options_.hello_limit_ns / 1'000'000)));
    it = strangers_.erase(it);
  }
}

void Dispatcher::SendHeartbeats(int64_t now_ns) {
  if (now_ns - last_heartbeat_ns_ < options_.heartbeat_interval_ns) return;
  last_heartbeat_ns_ = now_ns;
  for (auto& [worker, session] : fleet_.sessions()) {
    v1::WorkResponse message;
    message.mutable_heartbeat();
    session.link->Send(std::move(message));
  }
}

void Dispatcher::UpdateServed() {
  if (served_.Set(fleet_.Served()) && on_devices_changed_) on_devices_changed_();
}

}  // namespace hone::tuner
