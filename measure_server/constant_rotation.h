// Constants that every run finds as far away as in a model that has many more of them.
#ifndef HONE_MEASURE_SERVER_CONSTANT_ROTATION_H_
#define HONE_MEASURE_SERVER_CONSTANT_ROTATION_H_

#include <cstdint>
#include <vector>

#include "runtime/memory.h"
#include "runtime/module_abi.h"

namespace hone::measure {

// Copies of the constants that run launches read (prepared ones in their prepared form). A binding
// of a kernel takes the next one for each run.
class ConstantRotation {
 public:
  // Makes copies of more than fill_bytes together, two at least. False, and nothing rotates: the
  // kernel has no such constants, or they would take more than limit_bytes (0: no limit), or there
  // is no memory. `pointers` holds the constants to copy.
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
    Memory copies;  // one block: a page for each would cost more than many a constant
  };

  std::vector<Buffer> buffers_;
  uint64_t count_ = 0;
  uint64_t next_ = 0;
  uint64_t step_ = 0;  // not to the neighbour, which the hardware would have fetched already
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CONSTANT_ROTATION_H_
