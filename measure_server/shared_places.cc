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

SharedPlace PlaceOf(const hone_buffer& buffer, uint64_t inner_bytes, uint64_t offset) {
  const bool is_output = buffer.role == HONE_ROLE_OUTPUT;
  if (is_output || inner_bytes <= 2 * kPageBytes) return {offset, inner_bytes, inner_bytes};
  return {offset, 2 * kPageBytes, kPageBytes};
}

}  // namespace

GuardedExtent GuardedExtent::Of(size_t size_bytes) {
  const size_t aligned = AlignedBytes(std::max<size_t>(size_bytes, 1));
  const size_t inner = RoundUpToPages(aligned);
  return {inner, inner - aligned};
}

SharedPlaces::SharedPlaces(const hone_buffer* buffers, uint32_t count) : total_bytes_(kPageBytes) {
  for (uint32_t b = 0; b < count; ++b) {
    places_.emplace_back();
    const uint8_t role = buffers[b].role;
    if (role == HONE_ROLE_INPUT || role == HONE_ROLE_CONSTANT) continue;
    const uint64_t inner_bytes = GuardedExtent::Of(buffers[b].size_bytes).inner_bytes;
    ok_ = ok_ && inner_bytes >= buffers[b].size_bytes && inner_bytes <= kPlacesBytes;
    if (!ok_) return;
    places_.back() = PlaceOf(buffers[b], inner_bytes, total_bytes_);
    total_bytes_ += places_.back().bytes;
    ok_ = total_bytes_ <= kPlacesBytes;
  }
}

int MakeSharedFile() {
  constexpr int kSeals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  const int fd = memfd_create("hone-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd >= 0 && (ftruncate(fd, static_cast<off_t>(kPlacesBytes)) != 0 ||
                  fcntl(fd, F_ADD_SEALS, kSeals) != 0)) {
    const int fault = errno;
    close(fd);
    errno = fault;
    return -1;
  }
  return fd;
}

}  // namespace hone::measure
