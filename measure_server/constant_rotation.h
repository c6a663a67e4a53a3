// Rotates constants, so that every run finds them as far away in the caches as in a model with many
// more of them.
#ifndef HONE_MEASURE_SERVER_CONSTANT_ROTATION_H_
#define HONE_MEASURE_SERVER_CONSTANT_ROTATION_H_

#include <cstdint>
#include <vector>

#include "runtime/memory.h"
#include "runtime/module_abi.h"

namespace hone::measure {

// Holds copies of the constants that run launches read, including prepared ones. Each run binds the
// next copy.
class ConstantRotation {
 public:
  // Makes at least two copies, of more than `fill_bytes` in all. `pointers` has the constants to
  // copy. False, and nothing rotates, if the kernel has no such constants, if the copies would take
  // more than `limit_bytes` (0: no limit), or if there is no memory.
  bool SetUp(const hone_kernel& kernel, const std::vector<void*>& pointers, uint64_t fill_bytes,
             uint64_t limit_bytes);
  // Puts the next copies into a binding.
  void Rotate(void** binding) {
    for (const Buffer& buffer : buffers_) {
      binding[buffer.index] = buffer.copies.data() + next_ * buffer.stride_bytes;
    }
    next_ += step_;
    if (next_ >= count_) next_ -= count_;
  }
  uint64_t count() const { return count_; }

 private:
  struct Buffer {
    uint32_t index;
    uint64_t stride_bytes;
    Memory copies;  // one block, since whole pages would cost more than most constants
  };

  std::vector<Buffer> buffers_;
  uint64_t count_ = 0;
  uint64_t next_ = 0;
  uint64_t step_ = 0;  // more than 1, as the hardware would prefetch the neighbour
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CONSTANT_ROTATION_H_
