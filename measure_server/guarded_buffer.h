// Memory with guards around it, which show whether somebody wrote beyond it.
#ifndef HONE_MEASURE_SERVER_GUARDED_BUFFER_H_
#define HONE_MEASURE_SERVER_GUARDED_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "measure_server/shared_places.h"

namespace hone::measure {

// A block between two inaccessible pages. The data, rounded up to HONE_BUFFER_ALIGNMENT because it
// may be read that far, ends at the second one; the bytes before the data are a red zone. The part
// in `place` is in the shared file of the process that checks the data and the red zones, and that
// process fills it. Everything else starts as kPoison. Movable.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  // data() is null if there is no memory.
  GuardedBuffer(size_t size_bytes, const SharedPlace& place, int shared_fd);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  uint8_t* data() const { return data_; }
  // Makes any later write kill the process.
  void MakeReadOnly();

 private:
  bool MapInner(size_t inner, const SharedPlace& place, int shared_fd);

  uint8_t* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  uint8_t* data_ = nullptr;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_GUARDED_BUFFER_H_
