// Notices when a device's cores go, and when they are back.
#ifndef HONE_MEASURE_SERVER_DEVICE_WATCH_H_
#define HONE_MEASURE_SERVER_DEVICE_WATCH_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "hone/v1/farm.pb.h"
#include "measure_server/router.h"

namespace hone::measure {

// Cores go when a cpuset becomes smaller or cores are taken offline: a device with fewer than it
// said would time other things than before. It is away then, and calibrated anew when it is back.
class DeviceWatch {
 public:
  struct Seams {
    // How many a measurement could use now; called by Look's thread.
    std::function<int()> usable_cores;
    std::function<void(hone::v1::Device* device)> calibrate;
  };

  // The router outlives it.
  DeviceWatch(hone::v1::Device device, Seams seams, Router* router)
      : device_(std::move(device)), seams_(std::move(seams)), router_(router) {}
  ~DeviceWatch();

  // Looks once, and tells the router what has changed.
  void Look();
  // Looks every second, on a thread of its own that may use the cores which this thread may use
  // now.
  void Start();

 private:
  hone::v1::Device device_;
  const Seams seams_;
  Router* const router_;
  bool is_here_ = true;

  std::mutex mutex_;  // guards stopping_
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DEVICE_WATCH_H_
