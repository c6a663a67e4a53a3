// Memory whose surroundings show whether somebody wrote beyond it.
#ifndef HONE_MEASURE_SERVER_GUARDED_BUFFER_H_
#define HONE_MEASURE_SERVER_GUARDED_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "measure_server/shared_places.h"

namespace hone::measure {

// A block that ends (rounded up to HONE_BUFFER_ALIGNMENT, so far may it be read) at an inaccessible
// page and follows one; the bytes between are a red zone. What of it is shared lies in a file of
// the process that looks at the red zones and the data, which also fills it; all else starts as
// kPoison. Movable.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  // data() is null when there is no memory.
  GuardedBuffer(size_t size_bytes, const SharedPlace& place, int shared_fd);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  uint8_t* data() const { return data_; }
  // From here on a write kills the process.
  void MakeReadOnly();

 private:
  bool MapInner(size_t inner, const SharedPlace& place, int shared_fd);

  uint8_t* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  uint8_t* data_ = nullptr;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_GUARDED_BUFFER_H_
