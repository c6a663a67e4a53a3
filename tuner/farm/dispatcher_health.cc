// How devices fare: kept over the lives of a daemon.
#include <spdlog/spdlog.h>

#include "tuner/farm/dispatcher.h"
#include "tuner/store_error.h"

namespace hone::tuner {

using tuning_db::DeviceRest;

void Dispatcher::StoreHealth(const std::string& worker, const std::string& device) {
  const DeviceHealth health = fleet_.HealthOf(worker, device);
  DeviceRest rest;
  rest.worker = worker;
  rest.device = device;
  if (health.rests() > 0) {
    rest.losses = health.losses();
    rest.rests = health.rests();
    rest.rest_ns = health.RestNs(clock_->NowNs());
    rest.reason = health.why();
  }
  const absl::Status stored = store_->SetDeviceRest(rest);
  if (stored.ok()) return;
  if (Passes(stored)) unstored_health_.insert({worker, device});
  spdlog::error("how device {} of worker {} fares is not stored: {}", device, worker,
                stored.ToString());
}

void Dispatcher::LoadHealth() {
  const auto rests = store_->ListDeviceRests();
  if (!rests.ok()) {
    spdlog::error("how devices fared is not known: {}", rests.status().ToString());
    return;
  }
  for (const DeviceRest& rest : *rests) {
    fleet_.SetHealth(
        rest.worker, rest.device,
        DeviceHealth(rest.losses, rest.rests, clock_->NowNs() + rest.rest_ns, rest.reason));
  }
}

}  // namespace hone::tuner
