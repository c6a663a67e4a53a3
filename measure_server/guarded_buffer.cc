#include "measure_server/guarded_buffer.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "measure_server/run_protocol.h"

namespace hone::measure {

GuardedBuffer::GuardedBuffer(size_t size_bytes, const SharedPlace& place, int shared_fd) {
  const GuardedExtent extent = GuardedExtent::Of(size_bytes);
  if (extent.inner_bytes < size_bytes) return;
  void* mapped = mmap(nullptr, extent.inner_bytes + 2 * kPageBytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return;
  mapped_ = static_cast<uint8_t*>(mapped);
  mapped_bytes_ = extent.inner_bytes + 2 * kPageBytes;
  if (MapInner(extent.inner_bytes, place, shared_fd)) {
    data_ = mapped_ + kPageBytes + extent.data_at;
  }
}

bool GuardedBuffer::MapInner(size_t inner, const SharedPlace& place, int shared_fd) {
  uint8_t* const begin = mapped_ + kPageBytes;
  const auto share = [&](uint8_t* at, size_t bytes, uint64_t offset) {
    return bytes == 0 ||
           mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, shared_fd,
                static_cast<off_t>(offset)) != MAP_FAILED;
  };
  const size_t own = inner - place.bytes;
  if (own > 0) {
    uint8_t* const middle = begin + place.head_bytes;
    if (mprotect(middle, own, PROT_READ | PROT_WRITE) != 0) return false;
    madvise(middle, own, MADV_HUGEPAGE);  // faults of small pages take longer than a check
    std::memset(middle, kPoison, own);
  }
  const size_t tail = place.bytes - place.head_bytes;
  return share(begin, place.head_bytes, place.offset) &&
         share(begin + inner - tail, tail, place.offset + place.head_bytes);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

void GuardedBuffer::MakeReadOnly() {
  mprotect(mapped_ + kPageBytes, mapped_bytes_ - 2 * kPageBytes, PROT_READ);
}

}  // namespace hone::measure
