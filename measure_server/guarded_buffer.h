// Memory whose surroundings show whether somebody wrote beyond it.
#ifndef HONE_MEASURE_SERVER_GUARDED_BUFFER_H_
#define HONE_MEASURE_SERVER_GUARDED_BUFFER_H_

#include <cstddef>
#include <cstdint>

namespace hone::measure {

// A block that ends (rounded up to HONE_BUFFER_ALIGNMENT, so far may it be read) at an inaccessible
// page and follows one; the bytes between are a red zone. All of it starts as 0xFF, which is NaN in
// every float type. Movable.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  // data() is null when there is no memory.
  explicit GuardedBuffer(size_t size_bytes);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  uint8_t* data() const { return data_; }
  // From here on a write kills the process.
  void MakeReadOnly();
  // Whether the red zone is as it was.
  bool IsIntact() const;

 private:
  uint8_t* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  uint8_t* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_GUARDED_BUFFER_H_
