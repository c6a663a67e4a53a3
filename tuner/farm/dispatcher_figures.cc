// What is counted of the farm.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "tuner/farm/dispatcher.h"

namespace hone::tuner {
namespace {

using States = std::map<std::string, size_t>;

// Each state is told, whether or not anything is in it: a line of a graph neither comes nor goes.
States NoneOf(std::initializer_list<const char*> names) {
  States none;
  for (const char* name : names) none[name] = 0;
  return none;
}

const char* StateOfLease(const Lease& lease) {
  if (lease.away_until_ns) return "away";
  if (lease.is_settling) return "settling";
  return lease.started_ns ? "running" : "waiting";
}

// `devices`: how many of the worker's are in which state.
const char* StateOfWorker(const Session& session, const States& devices) {
  if (session.is_draining) return "draining";
  if (devices.size() == 1 && devices.contains("away")) return "away";
  if (devices.size() == 1 && devices.contains("quarantined")) return "quarantined";
  return devices.contains("busy") ? "measuring" : "idle";
}

}  // namespace

const char* Dispatcher::StateOfDevice(const Session& session, const FleetDevice& device) const {
  const std::string& id = device.info.id();
  if (device.is_away) return "away";
  const bool rests = fleet_.HealthOf(session.worker(), id).IsQuarantined(clock_->NowNs());
  if (rests || fleet_.quarantines().Covers(session.worker(), id)) return "quarantined";
  if (!device.barred.empty()) return "barred";
  return device.open > 0 ? "busy" : "idle";
}

void Dispatcher::CountWorkers(FarmFigures& figures) {
  figures.workers = NoneOf({"idle", "measuring", "draining", "quarantined", "away"});
  figures.devices = NoneOf({"idle", "busy", "away", "quarantined", "barred"});
  for (const auto& [worker, session] : fleet_.sessions()) {
    States of_worker;
    for (const auto& [id, device] : session.devices) of_worker[StateOfDevice(session, device)] += 1;
    for (const auto& [state, count] : of_worker) figures.devices[state] += count;
    figures.workers[StateOfWorker(session, of_worker)] += 1;
    const size_t queued = session.link->queued();
    figures.stream_messages += queued;
    figures.longest_stream_queue = std::max(figures.longest_stream_queue, queued);
  }
}

void Dispatcher::Figures(std::function<void(FarmFigures)> done) {
  executor_->Post([this, done = std::move(done)] {
    FarmFigures figures;
    figures.queued = queues_.SizesByKind();
    figures.underway = underway_.size();
    figures.leases = NoneOf({"waiting", "running", "settling", "away"});
    leases_.ForEach([&](const Lease& lease) { figures.leases[StateOfLease(lease)] += 1; });
    CountWorkers(figures);
    figures.settled = counts_.settled;
    figures.leases_lost = counts_.leases_lost;
    figures.settle_seconds = counts_.settle_seconds.Read();
    figures.lease_seconds = counts_.lease_seconds.Read();
    done(std::move(figures));
  });
}

}  // namespace hone::tuner
