#include "runtime/memory.h"

#include <sys/mman.h>

#include <utility>

namespace hone {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

Memory::Memory(size_t size_bytes, Sharing sharing) {
  if (size_bytes == 0 || size_bytes > SIZE_MAX - 2 * kHugePage) return;  // would wrap around
  // Large blocks are rounded to huge pages: part of one would stay on small ones.
  const size_t granule = size_bytes >= kHugePage ? kHugePage : kPage;
  const size_t wanted = (size_bytes + granule - 1) / granule * granule;
  const int flags = (sharing == Sharing::kShared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
  // One huge page more, so that the block can start on a boundary; what is left over is given back.
  const size_t reserve = granule == kHugePage ? wanted + kHugePage : wanted;
  void* mapped = mmap(nullptr, reserve, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped == MAP_FAILED) return;
  auto* start = static_cast<uint8_t*>(mapped);
  if (granule == kHugePage) {
    const size_t skip = (kHugePage - reinterpret_cast<uintptr_t>(start) % kHugePage) % kHugePage;
    if (skip > 0) munmap(start, skip);
    if (skip < kHugePage) munmap(start + skip + wanted, kHugePage - skip);
    start += skip;
    madvise(start, wanted, MADV_HUGEPAGE);
  }
  data_ = start;
  size_bytes_ = size_bytes;
  mapped_bytes_ = wanted;
}

Memory::Memory(Memory&& other) noexcept { *this = std::move(other); }

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  return *this;
}

Memory::~Memory() {
  if (data_ != nullptr) munmap(data_, mapped_bytes_);
}

}  // namespace hone
