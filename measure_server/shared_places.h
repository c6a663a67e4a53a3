// Where the buffers of one kernel are in the memory that its process shares with the one that
// checks it. Both processes compute the places from the same buffer table.
#ifndef HONE_MEASURE_SERVER_SHARED_PLACES_H_
#define HONE_MEASURE_SERVER_SHARED_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/module_abi.h"

namespace hone::measure {

// The value of every byte of a buffer before it is computed. It is NaN in every float type.
inline constexpr int kPoison = 0xFF;

// What is around a buffer in the check run. In host memory there are inaccessible pages, which
// catch accesses beyond the buffer (kPages). A device has none, so whole pages are red zones
// (kZones).
enum class Guard { kPages, kZones };

// The accessible part of a guarded buffer: the data and its red zones.
struct GuardedExtent {
  size_t inner_bytes = 0;  // whole pages; less than the buffer's bytes if that overflows
  size_t data_at = 0;      // where the data begins; the bytes before and behind it are red zones
  static GuardedExtent Of(size_t size_bytes, Guard guard = Guard::kPages);
};

// The shared part of a guarded buffer: its first `head_bytes` bytes, and its last `bytes` -
// `head_bytes` bytes. One follows the other in the file, from `offset` on.
struct SharedPlace {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t head_bytes = 0;
};

// The first page of the file counts runs. Outputs are shared as a whole. Other buffers that a
// kernel can write share their first and last pages, which have the red zones. In host memory,
// inputs and constants are read-only while a kernel runs, and are not shared.
class SharedPlaces {
 public:
  SharedPlaces(const hone_buffer* buffers, uint32_t count, Guard guard = Guard::kPages);

  // False if the buffers are larger than any memory.
  bool ok() const { return ok_; }
  const SharedPlace& operator[](uint32_t buffer) const { return places_[buffer]; }
  // The size of the file up to the end of the last place.
  uint64_t total_bytes() const { return total_bytes_; }

 private:
  bool ok_ = true;
  uint64_t total_bytes_;
  std::vector<SharedPlace> places_;
};

// Maps a place of the file into this process's memory.
class MappedPlace {
 public:
  // begin() is null if it cannot be mapped.
  MappedPlace(const SharedPlace& place, int shared_fd);
  ~MappedPlace();
  MappedPlace(const MappedPlace&) = delete;
  MappedPlace& operator=(const MappedPlace&) = delete;
  uint8_t* begin() const { return begin_; }

 private:
  const uint64_t bytes_;
  uint8_t* begin_ = nullptr;
};

// The file of the places: sparse, as large as any kernel needs, and of a fixed size. It takes
// memory only as it is written.
class SharedFile {
 public:
  // fd() is -1, with errno, if the file cannot be made.
  SharedFile();
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_SHARED_PLACES_H_
