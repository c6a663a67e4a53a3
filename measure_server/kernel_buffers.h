// The buffers of one kernel, filled with seeded inputs.
#ifndef HONE_MEASURE_SERVER_KERNEL_BUFFERS_H_
#define HONE_MEASURE_SERVER_KERNEL_BUFFERS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "measure_server/guarded_buffer.h"
#include "measure_server/seeded_input.h"
#include "measure_server/shared_places.h"
#include "measure_server/zoned_buffer.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/module_abi.h"

namespace hone::measure {

// One pointer for each entry of the buffer table. Owns the memory.
class KernelBuffers {
 public:
  // For the check run: red zones around each buffer, what must not be written is read-only, and
  // what the checking process looks at lies in its file.
  static KernelBuffers Guarded(const hone_kernel& kernel, const SharedPlaces& places,
                               int shared_fd);
  // Buffers are from the runtime's allocator, as a deployed model has them.
  static KernelBuffers Plain(const hone_kernel& kernel);
  // The same on a device, which outlives them: those of the check run between red zones, those that
  // are timed as the device allocates them.
  static KernelBuffers Zoned(const hone_kernel& kernel, Device& device);
  static KernelBuffers OnDevice(const hone_kernel& kernel, Device& device);

  // False: no memory.
  bool ok() const { return ok_; }
  const std::vector<void*>& pointers() const { return pointers_; }

  void Fill(uint64_t seed, InputSet set);
  // Inputs, constants and prepared constants as another's of the same kernel, which were closed: as
  // if they were filled and prepared anew.
  void CopyFrom(const KernelBuffers& other);
  // After prepare launches: what they read and wrote is for reading only (guarded ones; inputs and
  // constants can be closed before).
  void Close(uint8_t role);
  // After a run: lets the checking process see what zoned ones hold, where its file says so; it
  // sees guarded ones already. False: no memory.
  bool Share(const SharedPlaces& places, int shared_fd) const;

 private:
  explicit KernelBuffers(const hone_kernel& kernel, Device* device = nullptr)
      : kernel_(&kernel), device_(device) {}

  const hone_kernel* kernel_;
  Device* device_;  // null: in memory of the host
  bool ok_ = true;
  std::vector<void*> pointers_;
  std::vector<GuardedBuffer> guarded_;
  std::vector<Memory> plain_;
  std::vector<ZonedBuffer> zoned_;
  std::vector<std::unique_ptr<DeviceMemory>> on_device_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_KERNEL_BUFFERS_H_
