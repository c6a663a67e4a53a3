#include "measure_server/shared_places.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "measure_server/run_protocol.h"
#include "runtime/memory.h"

namespace hone::measure {
namespace {

constexpr uint64_t kPlacesBytes = uint64_t{1} << 40;

uint64_t RoundUpToPages(uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

SharedPlace PlaceOf(const hone_buffer& buffer, const GuardedExtent& extent, uint64_t offset) {
  const uint64_t behind_bytes = extent.inner_bytes - extent.data_at - buffer.size_bytes;
  const uint64_t head_bytes = std::max(RoundUpToPages(extent.data_at), kPageBytes);
  const uint64_t tail_bytes = std::max(RoundUpToPages(behind_bytes), kPageBytes);
  const bool is_whole =
      buffer.role == HONE_ROLE_OUTPUT || extent.inner_bytes <= head_bytes + tail_bytes;
  if (is_whole) return {offset, extent.inner_bytes, extent.inner_bytes};
  return {offset, head_bytes + tail_bytes, head_bytes};
}

// Where they cannot be closed to writers.
bool IsWritable(uint8_t role, Guard guard) {
  return guard == Guard::kZones || (role != HONE_ROLE_INPUT && role != HONE_ROLE_CONSTANT);
}

}  // namespace

GuardedExtent GuardedExtent::Of(size_t size_bytes, Guard guard) {
  const size_t aligned = AlignedBytes(std::max<size_t>(size_bytes, 1));
  const size_t inner = RoundUpToPages(aligned);
  if (guard == Guard::kZones) return {inner + 2 * kPageBytes, kPageBytes};
  return {inner, inner - aligned};
}

SharedPlaces::SharedPlaces(const hone_buffer* buffers, uint32_t count, Guard guard)
    : total_bytes_(kPageBytes) {
  for (uint32_t b = 0; b < count; ++b) {
    places_.emplace_back();
    if (!IsWritable(buffers[b].role, guard)) continue;
    const GuardedExtent extent = GuardedExtent::Of(buffers[b].size_bytes, guard);
    ok_ = ok_ && extent.inner_bytes >= buffers[b].size_bytes && extent.inner_bytes <= kPlacesBytes;
    if (!ok_) return;
    places_.back() = PlaceOf(buffers[b], extent, total_bytes_);
    total_bytes_ += places_.back().bytes;
    ok_ = total_bytes_ <= kPlacesBytes;
  }
}

MappedPlace::MappedPlace(const SharedPlace& place, int shared_fd) : bytes_(place.bytes) {
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd,
                            static_cast<off_t>(place.offset));
  if (mapped != MAP_FAILED) begin_ = static_cast<uint8_t*>(mapped);
}

MappedPlace::~MappedPlace() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
}

SharedFile::SharedFile() : fd_(memfd_create("hone-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  constexpr int kSeals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (fd_ < 0) return;
  if (ftruncate(fd_, static_cast<off_t>(kPlacesBytes)) == 0 &&
      fcntl(fd_, F_ADD_SEALS, kSeals) == 0) {
    return;
  }
  const int fault = errno;
  close(fd_);
  fd_ = -1;
  errno = fault;
}

SharedFile::~SharedFile() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace hone::measure
