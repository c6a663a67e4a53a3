#include "tuner/farm/worker_info.h"

#include <string>

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

}  // namespace

v1::WorkerInfo InfoOf(const Session& session, const Fleet& fleet, const LeaseManager& leases,
                      const Clock& clock) {
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
    *info.add_device_states() = StateOf(worker, device, health, leases, now_ns);
    leased += device.open;
    const std::string reason = health.Reason(now_ns);
    if (!reason.empty()) (*info.mutable_quarantined())[id] = reason;
  }
  info.set_settled(session.settled);
  info.set_leased(leased);
  info.set_draining(session.is_draining);
  info.set_since_last_message_ns(now_ns - session.last_message_ns);
  return info;
}

}  // namespace hone::tuner
