#include "measure_server/constant_rotation.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace hone::measure {
namespace {

bool IsReadConstant(const hone_buffer& buffer) {
  const bool is_constant = buffer.role == HONE_ROLE_CONSTANT || buffer.role == HONE_ROLE_PREPARED;
  return is_constant && (buffer.flags & HONE_BUFFER_NOT_READ_BY_RUN) == 0 && buffer.size_bytes > 0;
}

// About the golden part of `count`, and without a common factor: it visits all before it comes
// back.
uint64_t StepFor(uint64_t count) {
  uint64_t step = std::max<uint64_t>(count * 618 / 1000, 1);
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

}  // namespace

bool ConstantRotation::SetUp(const hone_kernel& kernel, const std::vector<void*>& pointers,
                             uint64_t fill_bytes, uint64_t limit_bytes) {
  std::vector<Buffer> buffers;
  uint64_t copy_bytes = 0;
  for (uint32_t b = 0; b < kernel.buffer_count; ++b) {
    if (!IsReadConstant(kernel.buffers[b])) continue;
    buffers.push_back({b, AlignedBytes(kernel.buffers[b].size_bytes), Memory()});
    copy_bytes += buffers.back().stride_bytes;
  }
  if (buffers.empty()) return false;
  // One of several is being read: the others fill the caches.
  const uint64_t count = std::max<uint64_t>(fill_bytes / copy_bytes + 1, 2);
  if (limit_bytes > 0 && count > limit_bytes / copy_bytes) return false;
  for (Buffer& buffer : buffers) {
    buffer.copies = Memory(count * buffer.stride_bytes);
    if (buffer.copies.data() == nullptr) return false;
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(buffer.copies.data() + i * buffer.stride_bytes, pointers[buffer.index],
                  kernel.buffers[buffer.index].size_bytes);
    }
  }
  buffers_ = std::move(buffers);
  count_ = count;
  step_ = StepFor(count);
  return true;
}

}  // namespace hone::measure
