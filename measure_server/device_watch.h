// Notices when a device loses cores, and when they are back.
#ifndef HONE_MEASURE_SERVER_DEVICE_WATCH_H_
#define HONE_MEASURE_SERVER_DEVICE_WATCH_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "hone/v1/farm.pb.h"
#include "measure_server/router.h"

namespace hone::measure {

// A device loses cores when a cpuset becomes smaller or cores are taken offline. With fewer cores
// than it announced its times would not compare, so it is away until they are back, and is then
// calibrated again.
class DeviceWatch {
 public:
  struct Seams {
    // How many cores a measurement could use now. Called on the thread that calls Look.
    std::function<int()> usable_cores;
    std::function<void(hone::v1::Device* device)> calibrate;
  };

  // The router must outlive this.
  DeviceWatch(hone::v1::Device device, Seams seams, Router* router)
      : device_(std::move(device)), seams_(std::move(seams)), router_(router) {}
  ~DeviceWatch();

  // Looks once, and tells the router if the device went or came back.
  void Look();
  // Starts a thread that looks every second. It may use the cores that the calling thread may use
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
