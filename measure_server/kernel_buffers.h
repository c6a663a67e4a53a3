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

// Owns the memory of all buffers in the kernel's buffer table.
class KernelBuffers {
 public:
  // Makes buffers for the check run. There are guards around each of them (guarded_buffer.h), and
  // the parts that the checking process looks at are in the file that it shares (shared_places.h).
  static KernelBuffers Guarded(const hone_kernel& kernel, const SharedPlaces& places,
                               int shared_fd);
  // Makes buffers for timing. They come from the runtime's allocator, as in a deployed model.
  static KernelBuffers Plain(const hone_kernel& kernel);
  // The same two on a device, which must outlive them: Zoned for the check run, with red zones, and
  // OnDevice for timing.
  static KernelBuffers Zoned(const hone_kernel& kernel, Device& device);
  static KernelBuffers OnDevice(const hone_kernel& kernel, Device& device);

  // False if there is no memory.
  bool ok() const { return ok_; }
  // One for each entry of the buffer table.
  const std::vector<void*>& pointers() const { return pointers_; }

  // Fills inputs and constants with seeded data.
  void Fill(uint64_t seed, InputSet set);
  // Copies from `other`, closed buffers of the same kernel, the inputs, constants and prepared
  // constants that run launches read. Run launches then find the same as if these buffers had been
  // filled and prepared.
  void CopyFrom(const KernelBuffers& other);
  // Makes the guarded buffers with this role read-only. Inputs and constants can be closed at once,
  // prepared ones after the prepare launches.
  void Close(uint8_t role);
  // After a run, copies what zoned buffers hold to the file of the checking process, which sees
  // guarded ones already. False if there is no memory.
  bool Share(const SharedPlaces& places, int shared_fd) const;

 private:
  explicit KernelBuffers(const hone_kernel& kernel, Device* device = nullptr)
      : kernel_(&kernel), device_(device) {}

  const hone_kernel* kernel_;
  Device* device_;  // null: the buffers are in host memory
  bool ok_ = true;
  std::vector<void*> pointers_;
  std::vector<GuardedBuffer> guarded_;
  std::vector<Memory> plain_;
  std::vector<ZonedBuffer> zoned_;
  std::vector<std::unique_ptr<DeviceMemory>> on_device_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_KERNEL_BUFFERS_H_
