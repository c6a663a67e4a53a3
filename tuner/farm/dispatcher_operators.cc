// What operators see of the workers, and say of them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "support/log.h"
#include "support/status.h"
#include "tuner/farm/dispatcher.h"
#include "tuner/farm/fleet.h"
#include "tuner/farm/worker_info.h"
#include "tuner/one_line.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::Quarantine;

namespace {

constexpr size_t kMostReasonBytes = 1024;
constexpr size_t kMostQuarantines = 4096;
// A worker answers at once.
constexpr int64_t kUndrainLimitNs = 10'000'000'000;

absl::Status NotConnected(const std::string& worker) {
  return absl::NotFoundError(
      fmt::format("no worker {} is connected; `hone worker list` shows who is", worker));
}

absl::Status IsWellFormed(const Quarantine& quarantine) {
  if (quarantine.worker.empty() || quarantine.worker.size() > kMostNameBytes ||
      quarantine.device.size() > kMostNameBytes) {
    return absl::InvalidArgumentError(
        fmt::format("expected the name of a worker, and maybe the id of its device, of at most {} "
                    "bytes each",
                    kMostNameBytes));
  }
  if (quarantine.reason.empty() || quarantine.reason.size() > kMostReasonBytes) {
    return absl::InvalidArgumentError(
        fmt::format("expected a reason of 1 to {} bytes, found one of {}: others will ask why",
                    kMostReasonBytes, quarantine.reason.size()));
  }
  return absl::OkStatus();
}

std::string Subject(const Quarantine& of) {
  return of.device.empty() ? fmt::format("worker {}", of.worker)
                           : fmt::format("device {} of worker {}", of.device, of.worker);
}

}  // namespace

void Dispatcher::ListWorkers(const std::string& worker, std::function<void(Workers)> done) {
  executor_->Post([this, worker, done = std::move(done)] {
    Workers answer;
    for (const auto& [name, session] : fleet_.sessions()) {
      if (!worker.empty() && name != worker) continue;
      const Detail detail = worker.empty() ? Detail::kShort : Detail::kAll;
      answer.workers.push_back(InfoOf(session, fleet_, leases_, *clock_, detail));
    }
    for (const Quarantine& quarantine : fleet_.quarantines().All()) {
      if (!worker.empty() && quarantine.worker != worker) continue;
      if (fleet_.Find(quarantine.worker) == nullptr) answer.of_gone.push_back(quarantine);
    }
    done(std::move(answer));
  });
}

// ---- drain and undrain ----

void Dispatcher::DrainWorker(const std::string& worker, std::function<void(absl::Status)> done) {
  executor_->Post([this, worker, done = std::move(done)] {
    Session* const session = fleet_.Find(worker);
    if (session == nullptr) return done(NotConnected(worker));
    if (!session->is_draining) {
      session->was_asked_to_drain = true;
      spdlog::info("worker {} is drained: it finishes what it holds, and leaves", worker);
    }
    session->is_draining = true;
    session->is_to_stay = false;
    AnswerUndrains(worker, absl::AbortedError(fmt::format("worker {} is drained again", worker)));
    UpdateServed();
    v1::WorkResponse message;
    message.mutable_drain();
    session->link->Send(std::move(message));
    done(absl::OkStatus());
  });
}

void Dispatcher::UndrainWorker(const std::string& worker, std::function<void(absl::Status)> done) {
  executor_->Post(
      [this, worker, done = std::move(done)]() mutable { DoUndrain(worker, std::move(done)); });
}

void Dispatcher::DoUndrain(const std::string& worker, std::function<void(absl::Status)> done) {
  Session* const session = fleet_.Find(worker);
  if (session == nullptr) return done(NotConnected(worker));
  if (!session->is_draining) {
    return done(absl::FailedPreconditionError(
        fmt::format("expected a worker that drains, found {}, which does not", worker)));
  }
  if (!session->was_asked_to_drain) {
    return done(absl::FailedPreconditionError(fmt::format(
        "worker {} leaves by its own will: its process was told to stop; start another", worker)));
  }
  session->is_to_stay = true;
  Undrains& undrains = undrains_[worker];
  undrains.until_ns = clock_->NowNs() + kUndrainLimitNs;
  undrains.waiting.push_back(std::move(done));
  v1::WorkResponse message;
  message.mutable_undrain();
  session->link->Send(std::move(message));
}

void Dispatcher::TakeUndrained(Session& session, const v1::Undrained& undrained) {
  if (undrained.leaves()) {
    session.is_draining = true;
    AnswerUndrains(session.worker(), absl::FailedPreconditionError(fmt::format(
                                         "worker {} leaves all the same: its process was told to "
                                         "stop, or it holds nothing any more",
                                         session.worker())));
    return UpdateServed();
  }
  // A drain that was said again since then is on its way to the worker.
  if (!session.is_to_stay) return;
  session.is_draining = false;
  session.was_asked_to_drain = false;
  spdlog::info("worker {} stays: its drain was taken back", session.worker());
  AnswerUndrains(session.worker(), absl::OkStatus());
  UpdateServed();
  Match();
}

void Dispatcher::AnswerUndrains(const std::string& worker, const absl::Status& status) {
  const auto it = undrains_.find(worker);
  if (it == undrains_.end()) return;
  const Undrains undrains = std::move(it->second);
  undrains_.erase(it);
  for (const auto& done : undrains.waiting) done(status);
}

void Dispatcher::GiveUpUndrains(int64_t now_ns) {
  std::vector<std::string> silent;
  for (const auto& [worker, undrains] : undrains_) {
    if (now_ns >= undrains.until_ns) silent.push_back(worker);
  }
  for (const std::string& worker : silent) {
    AnswerUndrains(worker,
                   absl::FailedPreconditionError(fmt::format(
                       "worker {} does not say that it stays: one of an older release leaves when "
                       "it holds nothing more",
                       worker)));
  }
}

// ---- quarantine and release ----

void Dispatcher::QuarantineWorker(const Quarantine& quarantine, QuarantineCallback done) {
  executor_->Post([this, quarantine, done = std::move(done)] { done(DoQuarantine(quarantine)); });
}

absl::StatusOr<v1::QuarantineWorkerResponse> Dispatcher::DoQuarantine(const Quarantine& wanted) {
  HONE_RETURN_IF_ERROR(IsWellFormed(wanted));
  Session* const session = fleet_.Find(wanted.worker);
  if (session != nullptr && !wanted.device.empty() &&
      session->FindDevice(wanted.device) == nullptr) {
    std::vector<std::string> ids;
    for (const auto& [id, device] : session->devices) ids.push_back(id);
    return absl::NotFoundError(fmt::format("worker {} has no device {}; it has: {}", wanted.worker,
                                           wanted.device, fmt::join(ids, " ")));
  }
  const bool is_new = !fleet_.quarantines().Has(wanted.worker, wanted.device);
  if (is_new && fleet_.quarantines().size() >= kMostQuarantines) {
    return absl::ResourceExhaustedError(
        fmt::format("{} workers and devices are in quarantine; release those that are gone (`hone "
                    "worker list`)",
                    kMostQuarantines));
  }
  HONE_ASSIGN_OR_RETURN(const Quarantine set, store_->SetQuarantine(wanted));
  quarantine_change_ += 1;
  fleet_.quarantines().Set(set);
  const LogFields about({{"worker", set.worker}, {"device", set.device}});
  spdlog::warn("{} put {} into quarantine: {}", set.by, OnOneLine(Subject(set)),
               OnOneLine(set.reason));
  UpdateServed();
  v1::QuarantineWorkerResponse response;
  *response.mutable_quarantine() = MessageOf(set);
  response.set_is_connected(session != nullptr);
  return response;
}

void Dispatcher::ReleaseWorker(const std::string& worker, const std::string& device,
                               ReleaseCallback done) {
  executor_->Post(
      [this, worker, device, done = std::move(done)] { done(DoRelease(worker, device)); });
}

absl::StatusOr<v1::ReleaseWorkerResponse> Dispatcher::DoRelease(const std::string& worker,
                                                                const std::string& device) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Quarantine> ended,
                        store_->EndQuarantines(worker, device));
  quarantine_change_ += 1;
  v1::ReleaseWorkerResponse response;
  for (const Quarantine& quarantine : ended) {
    fleet_.quarantines().End(quarantine);
    spdlog::info("{} is released", OnOneLine(Subject(quarantine)));
    *response.add_ended() = MessageOf(quarantine);
  }
  for (const std::string& rested : EndRests(worker, device)) response.add_rested_devices(rested);
  if (ended.empty() && response.rested_devices().empty()) {
    const bool is_whole = !device.empty() && fleet_.quarantines().Has(worker, "");
    return absl::NotFoundError(
        is_whole
            ? fmt::format("all of worker {} is in quarantine, not its device {} alone; release "
                          "the worker",
                          worker, device)
            : fmt::format("neither quarantine nor rest was found of {}; `hone worker list` "
                          "shows who is in one",
                          Subject({.worker = worker, .device = device})));
  }
  UpdateServed();
  Match();
  return response;
}

std::vector<std::string> Dispatcher::EndRests(const std::string& worker,
                                              const std::string& device) {
  const std::vector<std::string> rested = fleet_.EndRests(worker, device);
  for (const std::string& id : rested) StoreHealth(worker, id);
  return rested;
}

void Dispatcher::SetQuarantines(std::vector<Quarantine> all, int64_t change) {
  executor_->Post([this, all = std::move(all), change] {
    if (change != quarantine_change_) return;
    fleet_.quarantines().Replace(all);
    UpdateServed();
    Match();
  });
}

}  // namespace hone::tuner
