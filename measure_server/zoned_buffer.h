// A buffer on a device with red zones, which show whether a kernel wrote beyond it.
#ifndef HONE_MEASURE_SERVER_ZONED_BUFFER_H_
#define HONE_MEASURE_SERVER_ZONED_BUFFER_H_

#include <cstddef>
#include <memory>

#include "measure_server/shared_places.h"
#include "runtime/device.h"

namespace hone::measure {

// A block of a device's memory between two red zones of at least a page (Guard::kZones). Block and
// red zones start as kPoison. The device must outlive this. Not thread-safe.
class ZonedBuffer {
 public:
  // data() is null if the device has no memory left.
  ZonedBuffer(Device& device, size_t size_bytes);

  void* data() const { return data_; }
  // Copies what the checking process looks at to `place` in that process's file. False if the place
  // cannot be mapped.
  bool Share(const SharedPlace& place, int shared_fd) const;

 private:
  void Poison();

  Device& device_;
  const GuardedExtent extent_;
  std::unique_ptr<DeviceMemory> block_;
  void* data_ = nullptr;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ZONED_BUFFER_H_
