// A kernel on the buffers it is timed with.
#ifndef HONE_MEASURE_SERVER_TIMED_KERNEL_H_
#define HONE_MEASURE_SERVER_TIMED_KERNEL_H_

#include <vector>

#include "measure_server/constant_rotation.h"
#include "measure_server/kernel_buffers.h"
#include "measure_server/timing.h"
#include "runtime/kernel_runner.h"

namespace hone::measure {

// Activations are warm. Constants (with what was prepared of them) are hot, or rotate: each run
// takes the next of several copies.
class TimedKernel : public TimedWork {
 public:
  TimedKernel(const hone_kernel& kernel, ThreadTeam& team);
  // Allocates, fills, prepares; or copies from what the check filled and prepared by the same seed.
  // False: no memory.
  bool SetUp(uint64_t seed, const KernelBuffers* filled);
  // To be called after SetUp. False: constants stay warm, for there is nothing to rotate, or no
  // room for the copies.
  bool RotateConstants(uint64_t fill_bytes, uint64_t limit_bytes);

  // Counts each run where another process sees it.
  void CountRunsAt(volatile uint64_t* counter) { counter_ = counter; }
  // What the last run left in the table's buffer.
  const void* data(uint32_t buffer) const { return buffers_.pointers()[buffer]; }

  Chunk RunChunk(int64_t runs) override;
  // Spoils some of the outputs too: they are right at the end of a round only if its last chunk
  // computed them.
  double Calibrate() override;

 private:
  void SpoilOutputs();

  const hone_kernel& kernel_;
  KernelRunner runner_;
  KernelBuffers buffers_;
  ConstantRotation rotation_;
  std::vector<void*> binding_;  // of the run at hand
  uint64_t own_counter_ = 0;
  volatile uint64_t* counter_ = &own_counter_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_TIMED_KERNEL_H_
