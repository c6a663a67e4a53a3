// Where the buffers of one kernel lie in the memory that its process shares with the one that
// checks it. Both compute the places from the same buffer table.
#ifndef HONE_MEASURE_SERVER_SHARED_PLACES_H_
#define HONE_MEASURE_SERVER_SHARED_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/module_abi.h"

namespace hone::measure {

// Every byte of a buffer before it is computed: NaN in every float type.
inline constexpr int kPoison = 0xFF;

// What stands around a buffer of the check run. Memory of the host ends at inaccessible pages,
// which catch whoever goes beyond it; a device has none, and its red zones are pages themselves.
enum class Guard { kPages, kZones };

// The part of a guarded buffer that is its own: between its inaccessible pages, where it has some.
struct GuardedExtent {
  size_t inner_bytes = 0;  // whole pages; less than the buffer's bytes: no such memory
  size_t data_at = 0;      // what is before it, and behind the data, is a red zone
  static GuardedExtent Of(size_t size_bytes, Guard guard = Guard::kPages);
};

// The shared part of a guarded buffer: its first `head_bytes`, and up to its end what is left of
// `bytes`. They follow each other in the file.
struct SharedPlace {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t head_bytes = 0;
};

// The first page counts runs. Outputs are shared as a whole; of what else a kernel may write, the
// first and last pages, which have the red zones. Inputs and constants of the host are read-only
// when a kernel runs, and not shared.
class SharedPlaces {
 public:
  SharedPlaces(const hone_buffer* buffers, uint32_t count, Guard guard = Guard::kPages);

  // No such memory: the buffers are larger than any.
  bool ok() const { return ok_; }
  const SharedPlace& operator[](uint32_t buffer) const { return places_[buffer]; }
  // Up to the end of the last.
  uint64_t total_bytes() const { return total_bytes_; }

 private:
  bool ok_ = true;
  uint64_t total_bytes_;
  std::vector<SharedPlace> places_;
};

// A place of the file in this process's memory. Not copied.
class MappedPlace {
 public:
  // begin() is null where it cannot be mapped.
  MappedPlace(const SharedPlace& place, int shared_fd);
  ~MappedPlace();
  MappedPlace(const MappedPlace&) = delete;
  MappedPlace& operator=(const MappedPlace&) = delete;
  uint8_t* begin() const { return begin_; }

 private:
  const uint64_t bytes_;
  uint8_t* begin_ = nullptr;
};

// The file of the places: sparse, as large as any kernel needs, and never of another size. It takes
// memory as it is written. -1 with errno.
int MakeSharedFile();

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_SHARED_PLACES_H_
