// A kernel on the buffers it is timed with.
#ifndef HONE_MEASURE_SERVER_TIMED_KERNEL_H_
#define HONE_MEASURE_SERVER_TIMED_KERNEL_H_

#include <vector>

#include "measure_server/constant_rotation.h"
#include "measure_server/kernel_buffers.h"
#include "measure_server/timing.h"
#include "runtime/device.h"
#include "runtime/kernel_runner.h"
#include "runtime/module_abi.h"

namespace hone::measure {

// Activations are warm. Constants (with what was prepared of them) are hot, or rotate: each run
// takes the next of several copies.
class TimedKernel : public TimedWork {
 public:
  // Module and device outlive it; `kernel` and `loaded` are of the module.
  TimedKernel(const hone_module& table, const hone_kernel& kernel, LoadedModule& loaded,
              Device& device);
  // Allocates, fills, prepares; or copies from what the check filled and prepared by the same seed.
  // False: no memory.
  bool SetUp(uint64_t seed, const KernelBuffers* filled);
  // To be called after SetUp. False: constants stay warm, for there is nothing to rotate, no room
  // for the copies, or the device is not the host.
  bool RotateConstants(uint64_t fill_bytes, uint64_t limit_bytes);

  // Counts each run where another process sees it.
  void CountRunsAt(volatile uint64_t* counter) { counter_ = counter; }
  // What the last run left in the table's buffer; in the device's memory.
  const void* data(uint32_t buffer) const { return buffers_.pointers()[buffer]; }

  Chunk RunChunk(int64_t runs) override;
  // Spoils some of the outputs too: they are right at the end of a round only if its last chunk
  // computed them.
  double Calibrate() override;

 private:
  Chunk RunHere(int64_t runs);
  Chunk RunOnDevice(int64_t runs);
  void SpoilOutputs();
  void Spoil(uint32_t buffer, uint64_t offset, uint64_t size_bytes);

  const hone_kernel& kernel_;
  Device& device_;
  KernelRunner runner_;
  KernelBuffers buffers_;
  ConstantRotation rotation_;
  std::vector<void*> binding_;  // of the run at hand
  uint64_t own_counter_ = 0;
  volatile uint64_t* counter_ = &own_counter_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_TIMED_KERNEL_H_
