// A kernel with the buffers that it is timed on.
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

// Activations are warm. Constants, prepared ones included, are hot, or they rotate: each run takes
// the next of several copies (constant_rotation.h).
class TimedKernel : public TimedWork {
 public:
  // Module and device must outlive this. `kernel` and `loaded` belong to the module.
  TimedKernel(const hone_module& table, const hone_kernel& kernel, LoadedModule& loaded,
              Device& device);
  // Fills the buffers and runs the prepare launches, or copies from `filled`, which the check
  // filled with the same seed and prepared. False if there is no memory.
  bool SetUp(uint64_t seed, const KernelBuffers* filled);
  // Call it after SetUp. False if constants do not rotate, since there are none, there is no room
  // for copies, or the device is not the host.
  bool RotateConstants(uint64_t fill_bytes, uint64_t limit_bytes);

  // Makes each run add 1 to `counter`, which another process reads.
  void CountRunsAt(volatile uint64_t* counter) { counter_ = counter; }
  // What the last run left in a buffer of the table, in the device's memory.
  const void* data(uint32_t buffer) const { return buffers_.pointers()[buffer]; }

  Chunk RunChunk(int64_t runs) override;
  // Runs the calibrator. Also overwrites parts of the outputs, so that they are right at the end of
  // a round only if its last chunk computed them.
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
  std::vector<void*> binding_;  // of the current run
  uint64_t own_counter_ = 0;
  volatile uint64_t* counter_ = &own_counter_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_TIMED_KERNEL_H_
