#include "measure_server/device_runner.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace hone::measure {
namespace {

// A final compares candidates that take turns, which nothing should disturb. What is tried again
// may have taken a worker down; that must not happen while another trial seems to run.
bool RunsAlone(const Job& job) {
  return job.assignment.rounds() != 0 || job.assignment.attempt() > 1;
}

}  // namespace

DeviceRunner::DeviceRunner(hone::v1::Device device, std::unique_ptr<Measurer> measurer,
                           uint32_t ahead)
    : device_(std::move(device)), measurer_(std::move(measurer)), ahead_(ahead) {}

DeviceRunner::~DeviceRunner() {
  if (thread_.joinable()) thread_.join();
}

void DeviceRunner::Start(Router* router) {
  thread_ = std::thread([this, router] { Run(router); });
}

void DeviceRunner::Run(Router* router) {
  while (const std::optional<Job> job = router->Next(device_.id())) {
    const int64_t fence = job->assignment.fence();
    if (ahead_ > 0) LoadAhead(*router, *job);
    hone::v1::MeasureResult result = measurer_->Measure(*job);
    // It may have ended before its candidates were run.
    if (loaded_.erase(fence) > 0) measurer_->Forget(fence);
    result.set_device_fingerprint(device_.fingerprint());
    is_lost_ = measurer_->is_lost();
    router->Finish(device_.id(), std::move(result));
    if (is_lost_) router->Lose(device_.id(), "it cannot start candidates any more");
  }
}

void DeviceRunner::LoadAhead(const Router& router, const Job& current) {
  std::vector<Job> next;
  if (!RunsAlone(current)) next = router.Ahead(device_.id(), ahead_);
  std::erase_if(next, RunsAlone);
  std::erase_if(loaded_, [&](int64_t fence) {
    const auto is_it = [fence](const Job& job) { return job.assignment.fence() == fence; };
    const bool stays = is_it(current) || std::ranges::any_of(next, is_it);
    if (!stays) measurer_->Forget(fence);
    return !stays;
  });
  // What is loaded already may have been dropped since.
  for (const Job& job : next) {
    loaded_.insert(job.assignment.fence());
    measurer_->LoadAhead(job);
  }
}

}  // namespace hone::measure
