// Memory for tensors, aligned as the module ABI requires. Large blocks use huge pages.
#ifndef HONE_RUNTIME_MEMORY_H_
#define HONE_RUNTIME_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "runtime/module_abi.h"

namespace hone {

// `size_bytes` rounded up to HONE_BUFFER_ALIGNMENT, so that another block may follow.
constexpr uint64_t AlignedBytes(uint64_t size_bytes) {
  return (size_bytes + HONE_BUFFER_ALIGNMENT - 1) / HONE_BUFFER_ALIGNMENT * HONE_BUFFER_ALIGNMENT;
}

// Owns a block of zeroed memory. Movable.
class Memory {
 public:
  // A kShared block stays shared with children that are forked later: each process sees what the
  // others write. It does not make fork() slower.
  enum class Sharing { kPrivate, kShared };

  Memory() = default;
  // data() is null if the system has no memory left, or if size_bytes is 0.
  explicit Memory(size_t size_bytes, Sharing sharing = Sharing::kPrivate);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  uint8_t* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_bytes_ = 0;
  size_t mapped_bytes_ = 0;
};

}  // namespace hone

#endif  // HONE_RUNTIME_MEMORY_H_
