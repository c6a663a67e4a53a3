#include "measure_server/zoned_buffer.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hone::measure {

ZonedBuffer::ZonedBuffer(Device& device, size_t size_bytes)
    : device_(device), extent_(GuardedExtent::Of(size_bytes, Guard::kZones)) {
  if (extent_.inner_bytes < size_bytes) return;
  block_ = device_.Allocate(extent_.inner_bytes);
  if (!block_) return;
  data_ = static_cast<uint8_t*>(block_->data()) + extent_.data_at;
  Poison();
}

void ZonedBuffer::Poison() {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  const std::vector<uint8_t> piece(std::min(extent_.inner_bytes, kPieceBytes), kPoison);
  auto* const begin = static_cast<uint8_t*>(block_->data());
  for (size_t at = 0; at < extent_.inner_bytes; at += piece.size()) {
    device_.CopyIn(begin + at, piece.data(), std::min(piece.size(), extent_.inner_bytes - at));
  }
}

bool ZonedBuffer::Share(const SharedPlace& place, int shared_fd) const {
  if (place.bytes == 0) return true;
  const MappedPlace mapped(place, shared_fd);
  if (mapped.begin() == nullptr) return false;
  const auto* const begin = static_cast<const uint8_t*>(block_->data());
  const uint64_t tail_bytes = place.bytes - place.head_bytes;
  device_.CopyOut(mapped.begin(), begin, place.head_bytes);
  if (tail_bytes > 0) {
    device_.CopyOut(mapped.begin() + place.head_bytes, begin + extent_.inner_bytes - tail_bytes,
                    tail_bytes);
  }
  return true;
}

}  // namespace hone::measure
