#include "measure_server/kernel_buffers.h"

#include <algorithm>
#include <cstring>

namespace hone::measure {

KernelBuffers KernelBuffers::Guarded(const hone_kernel& kernel, const SharedPlaces& places,
                                     int shared_fd) {
  KernelBuffers buffers(kernel);
  for (uint32_t b = 0; b < kernel.buffer_count && buffers.ok_; ++b) {
    buffers.guarded_.emplace_back(kernel.buffers[b].size_bytes, places[b], shared_fd);
    buffers.pointers_.push_back(buffers.guarded_.back().data());
    buffers.ok_ = buffers.pointers_.back() != nullptr;
  }
  return buffers;
}

KernelBuffers KernelBuffers::Plain(const hone_kernel& kernel) {
  KernelBuffers buffers(kernel);
  for (uint32_t b = 0; b < kernel.buffer_count && buffers.ok_; ++b) {
    // An empty tensor still has an address.
    buffers.plain_.emplace_back(std::max<uint64_t>(kernel.buffers[b].size_bytes, 1));
    buffers.pointers_.push_back(buffers.plain_.back().data());
    buffers.ok_ = buffers.pointers_.back() != nullptr;
  }
  return buffers;
}

void KernelBuffers::Fill(uint64_t seed, InputSet set) {
  uint32_t operand = 0;
  for (uint32_t b = 0; b < kernel_->buffer_count; ++b) {
    const hone_buffer& buffer = kernel_->buffers[b];
    if (buffer.role != HONE_ROLE_INPUT && buffer.role != HONE_ROLE_CONSTANT) continue;
    FillSeeded(buffer, operand++, seed, set, pointers_[b]);
  }
}

void KernelBuffers::CopyFrom(const KernelBuffers& other) {
  for (uint32_t b = 0; b < kernel_->buffer_count; ++b) {
    const hone_buffer& buffer = kernel_->buffers[b];
    const bool is_filled = buffer.role == HONE_ROLE_INPUT || buffer.role == HONE_ROLE_CONSTANT ||
                           buffer.role == HONE_ROLE_PREPARED;
    if (is_filled && (buffer.flags & HONE_BUFFER_NOT_READ_BY_RUN) == 0) {
      std::memcpy(pointers_[b], other.pointers_[b], buffer.size_bytes);
    }
  }
}

void KernelBuffers::Close(uint8_t role) {
  for (uint32_t b = 0; b < guarded_.size(); ++b) {
    if (kernel_->buffers[b].role == role) guarded_[b].MakeReadOnly();
  }
}

}  // namespace hone::measure
