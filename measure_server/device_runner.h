// The thread of one device of the worker.
#ifndef HONE_MEASURE_SERVER_DEVICE_RUNNER_H_
#define HONE_MEASURE_SERVER_DEVICE_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "hone/v1/farm.pb.h"
#include "measure_server/measurer.h"
#include "measure_server/router.h"

namespace hone::measure {

// Measures what the router gives the device, on a thread of its own, from Start until the router
// has no more for it or the device is lost. `measurer` does what depends on the device's kind. It
// is told to load the next `ahead` jobs while it measures one, but for finals and for what was
// tried before: these have the device for themselves.
class DeviceRunner {
 public:
  DeviceRunner(hone::v1::Device device, std::unique_ptr<Measurer> measurer, uint32_t ahead = 0);
  // Blocks until the router lets the device go.
  ~DeviceRunner();

  // The router must outlive this.
  void Start(Router* router);
  void Cancel(int64_t fence) { measurer_->Cancel(fence); }
  bool is_lost() const { return is_lost_; }
  const std::string& id() const { return device_.id(); }

 private:
  void Run(Router* router);
  // Has those loaded that come after `current`, and forgets others that were loaded.
  void LoadAhead(const Router& router, const Job& current);

  const hone::v1::Device device_;
  const std::unique_ptr<Measurer> measurer_;
  const uint32_t ahead_;
  std::set<int64_t> loaded_;  // fences of jobs that were loaded and not measured yet
  std::atomic<bool> is_lost_{false};
  std::thread thread_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DEVICE_RUNNER_H_
