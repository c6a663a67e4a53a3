#include "tuner/farm/worker_info.h"

#include <algorithm>
#include <string>
#include <vector>

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

v1::DeviceState StateOf(const std::string& worker, const FleetDevice& device,
                        const DeviceHealth& health, const LeaseManager& leases, int64_t now_ns) {
  v1::DeviceState state;
  state.set_window(device.window);
  state.set_leased(device.open);
  if (const Lease* const lease = leases.RunningOn(worker, device.info.id())) {
    state.set_running_fence(lease->fence());
    state.set_running_ns(now_ns - *lease->started_ns);
  }
  state.set_losses(static_cast<uint64_t>(health.losses()));
  if (health.IsQuarantined(now_ns)) {
    state.set_rest_ns(health.RestNs(now_ns));
    state.set_rest_reason(health.why());
  }
  state.set_is_away(device.is_away);
  state.set_away_reason(device.away_reason);
  state.set_since_calibration_ns(now_ns - device.told_ns);
  state.set_barred(device.barred);
  return state;
}

v1::HeldLease MessageOf(const Lease& lease, int64_t now_ns) {
  const tuning_db::Trial& trial = lease.pending->request.trial;
  v1::HeldLease held;
  held.set_fence(lease.fence());
  held.set_trial(trial.id);
  held.set_job(trial.job);
  held.set_task(trial.task);
  held.set_attempt(lease.assignment.attempt());
  held.set_held_ns(now_ns - lease.offered_ns);
  if (lease.started_ns) held.set_running_ns(std::max<int64_t>(1, now_ns - *lease.started_ns));
  held.set_limit_ns(lease.limit_ns);
  held.set_is_settling(lease.is_settling);
  return held;
}

// What is only asked for of one worker.
void AddDetail(const std::string& worker, const std::string& device, const DeviceHistory& history,
               const LeaseManager& leases, int64_t now_ns, v1::DeviceState* state) {
  std::vector<int64_t> fences = leases.OfDevice(worker, device);
  std::sort(fences.begin(), fences.end());
  for (const int64_t fence : fences) *state->add_leases() = MessageOf(*leases.Find(fence), now_ns);
  for (const DeviceHistory::Calibration& calibration : history.calibrations) {
    v1::CalibrationPoint& point = *state->add_calibrations();
    point.set_ago_ns(now_ns - calibration.told_ns);
    point.set_calibrator_ns(calibration.calibrator_ns);
    *point.mutable_calibrations() = {calibration.loops.begin(), calibration.loops.end()};
  }
}

}  // namespace

v1::Quarantine MessageOf(const tuning_db::Quarantine& quarantine) {
  v1::Quarantine message;
  message.set_worker(quarantine.worker);
  message.set_device(quarantine.device);
  message.set_reason(quarantine.reason);
  message.set_by(quarantine.by);
  message.set_at_ns(quarantine.at_ns);
  return message;
}

v1::WorkerInfo InfoOf(const Session& session, const Fleet& fleet, const LeaseManager& leases,
                      const Clock& clock, Detail detail) {
  const int64_t now_ns = clock.NowNs();
  const std::string& worker = session.worker();
  v1::WorkerInfo info;
  info.set_worker(worker);
  info.set_instance(session.hello.instance());
  info.set_identity(session.link->identity());
  info.set_protocol(session.protocol);
  info.set_build(session.hello.build());
  info.set_sandbox(session.hello.sandbox());
  uint64_t leased = 0;
  for (const auto& [id, device] : session.devices) {
    const DeviceHealth health = fleet.HealthOf(worker, id);
    *info.add_devices() = device.info;
    v1::DeviceState& state = *info.add_device_states();
    state = StateOf(worker, device, health, leases, now_ns);
    const DeviceHistory history = fleet.histories().Of(worker, id);
    *state.mutable_tally() = history.tally;
    if (detail == Detail::kAll) AddDetail(worker, id, history, leases, now_ns, &state);
    leased += device.open;
    const std::string reason = health.Reason(now_ns);
    if (!reason.empty()) (*info.mutable_quarantined())[id] = reason;
  }
  for (const tuning_db::Quarantine& quarantine : fleet.quarantines().Of(worker)) {
    *info.add_quarantines() = MessageOf(quarantine);
  }
  info.set_settled(session.settled);
  info.set_leased(leased);
  info.set_draining(session.is_draining);
  info.set_since_last_message_ns(now_ns - session.last_message_ns);
  return info;
}

}  // namespace hone::tuner
