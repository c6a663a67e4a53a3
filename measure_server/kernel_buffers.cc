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

KernelBuffers KernelBuffers::Zoned(const hone_kernel& kernel, Device& device) {
  KernelBuffers buffers(kernel, &device);
  for (uint32_t b = 0; b < kernel.buffer_count && buffers.ok_; ++b) {
    buffers.zoned_.emplace_back(device, kernel.buffers[b].size_bytes);
    buffers.pointers_.push_back(buffers.zoned_.back().data());
    buffers.ok_ = buffers.pointers_.back() != nullptr;
  }
  return buffers;
}

KernelBuffers KernelBuffers::OnDevice(const hone_kernel& kernel, Device& device) {
  KernelBuffers buffers(kernel, &device);
  for (uint32_t b = 0; b < kernel.buffer_count && buffers.ok_; ++b) {
    buffers.on_device_.push_back(
        device.Allocate(std::max<uint64_t>(kernel.buffers[b].size_bytes, 1)));
    buffers.ok_ = buffers.on_device_.back() != nullptr;
    buffers.pointers_.push_back(buffers.ok_ ? buffers.on_device_.back()->data() : nullptr);
  }
  return buffers;
}

void KernelBuffers::Fill(uint64_t seed, InputSet set) {
  uint32_t operand = 0;
  for (uint32_t b = 0; b < kernel_->buffer_count; ++b) {
    const hone_buffer& buffer = kernel_->buffers[b];
    if (buffer.role != HONE_ROLE_INPUT && buffer.role != HONE_ROLE_CONSTANT) continue;
    if (device_ == nullptr) {
      FillSeeded(buffer, operand++, seed, set, pointers_[b]);
      continue;
    }
    std::vector<uint8_t> filled(buffer.size_bytes);
    FillSeeded(buffer, operand++, seed, set, filled.data());
    if (!filled.empty()) device_->CopyIn(pointers_[b], filled.data(), filled.size());
  }
}

void KernelBuffers::CopyFrom(const KernelBuffers& other) {
  for (uint32_t b = 0; b < kernel_->buffer_count; ++b) {
    const hone_buffer& buffer = kernel_->buffers[b];
    const bool is_filled = buffer.role == HONE_ROLE_INPUT || buffer.role == HONE_ROLE_CONSTANT ||
                           buffer.role == HONE_ROLE_PREPARED;
    if (!is_filled || (buffer.flags & HONE_BUFFER_NOT_READ_BY_RUN) != 0) continue;
    if (device_ == nullptr) {
      std::memcpy(pointers_[b], other.pointers_[b], buffer.size_bytes);
    } else if (buffer.size_bytes > 0) {
      device_->Copy(pointers_[b], other.pointers_[b], buffer.size_bytes);
    }
  }
}

void KernelBuffers::Close(uint8_t role) {
  for (uint32_t b = 0; b < guarded_.size(); ++b) {
    if (kernel_->buffers[b].role == role) guarded_[b].MakeReadOnly();
  }
}

bool KernelBuffers::Share(const SharedPlaces& places, int shared_fd) const {
  for (uint32_t b = 0; b < zoned_.size(); ++b) {
    if (!zoned_[b].Share(places[b], shared_fd)) return false;
  }
  return true;
}

}  // namespace hone::measure
