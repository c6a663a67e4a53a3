#include "measure_server/device_watch.h"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>

namespace hone::measure {

DeviceWatch::~DeviceWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void DeviceWatch::Look() {
  const int cores = seams_.usable_cores();
  const bool has_cores = cores >= static_cast<int>(device_.threads());
  if (has_cores == is_here_) return;
  is_here_ = has_cores;
  if (!has_cores) {
    return router_->Unplug(
        device_.id(),
        fmt::format("it measures on {} cores, of which {} are left", device_.threads(), cores));
  }
  seams_.calibrate(&device_);
  router_->Update(device_);
}

void DeviceWatch::Start() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "device-watch");
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      lock.unlock();
      Look();
      lock.lock();
      if (!stopping_) changed_.wait_for(lock, std::chrono::seconds(1));
    }
  });
}

}  // namespace hone::measure
