// A kernel on the buffers it is timed with.
#ifndef HONE_MEASURE_SERVER_TIMED_KERNEL_H_
#define HONE_MEASURE_SERVER_TIMED_KERNEL_H_

#include <vector>

#include "measure_server/kernel_buffers.h"
#include "measure_server/timing.h"
#include "runtime/kernel_runner.h"

namespace hone::measure {

// Activations are warm. Constants (with what was prepared of them) are hot, or cold: each run takes
// the next of several copies, together more than the last-level cache holds.
class TimedKernel : public TimedWork {
 public:
  TimedKernel(const hone_kernel& kernel, ThreadTeam& team, bool cold_constants);
  // Allocates, fills, prepares. False: no memory.
  bool SetUp(uint64_t seed);

  Chunk RunChunk(int64_t runs) override;
  double Calibrate() override;

 private:
  bool MakeCopies();

  const hone_kernel& kernel_;
  ThreadTeam& team_;
  const bool cold_constants_;
  KernelRunner runner_;
  KernelBuffers buffers_;
  std::vector<Memory> copies_;
  std::vector<std::vector<void*>> bindings_;  // one for each copy
  size_t next_ = 0;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_TIMED_KERNEL_H_
