#include "measure_server/device_runner.h"

#include <optional>
#include <utility>

namespace hone::measure {

DeviceRunner::DeviceRunner(hone::v1::Device device, std::unique_ptr<Measurer> measurer)
    : device_(std::move(device)), measurer_(std::move(measurer)) {}

DeviceRunner::~DeviceRunner() {
  if (thread_.joinable()) thread_.join();
}

void DeviceRunner::Start(Router* router) {
  thread_ = std::thread([this, router] { Run(router); });
}

void DeviceRunner::Run(Router* router) {
  while (const std::optional<Job> job = router->Next(device_.id())) {
    hone::v1::MeasureResult result = measurer_->Measure(*job);
    result.set_device_fingerprint(device_.fingerprint());
    is_lost_ = measurer_->is_lost();
    router->Finish(device_.id(), std::move(result));
    if (is_lost_) router->Lose(device_.id(), "it cannot start candidates any more");
  }
}

}  // namespace hone::measure
