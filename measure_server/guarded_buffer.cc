#include "measure_server/guarded_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/memory.h"

namespace hone::measure {
namespace {

constexpr size_t kPage = 4096;
constexpr int kFill = 0xFF;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

GuardedBuffer::GuardedBuffer(size_t size_bytes) : size_bytes_(size_bytes) {
  const size_t aligned = AlignedBytes(std::max<size_t>(size_bytes, 1));
  const size_t inner = RoundUp(aligned, kPage);
  if (inner < size_bytes) return;
  void* mapped = mmap(nullptr, inner + 2 * kPage, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return;
  mapped_ = static_cast<uint8_t*>(mapped);
  mapped_bytes_ = inner + 2 * kPage;
  if (mprotect(mapped_ + kPage, inner, PROT_READ | PROT_WRITE) != 0) return;
  madvise(mapped_ + kPage, inner, MADV_HUGEPAGE);  // faults of small pages take longer than a check
  std::memset(mapped_ + kPage, kFill, inner);
  data_ = mapped_ + kPage + inner - aligned;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

void GuardedBuffer::MakeReadOnly() {
  mprotect(mapped_ + kPage, mapped_bytes_ - 2 * kPage, PROT_READ);
}

bool GuardedBuffer::IsIntact() const {
  const auto is_filled = [](const uint8_t* begin, const uint8_t* end) {
    return std::all_of(begin, end, [](uint8_t byte) { return byte == kFill; });
  };
  return is_filled(mapped_ + kPage, data_) &&
         is_filled(data_ + size_bytes_, mapped_ + mapped_bytes_ - kPage);
}

}  // namespace hone::measure
