// The memories of a machine: the three levels of cache, and DRAM.
#ifndef HONE_COMPILER_MACHINE_MEMORY_H_
#define HONE_COMPILER_MACHINE_MEMORY_H_

#include <cstdint>
#include <optional>

namespace hone::machine {

// The sizes of a line of every cache, and of a page of memory.
inline constexpr int64_t kLineBytes = 64;
inline constexpr int64_t kPageBytes = 4096;

// Which processing elements share a level.
enum class SharedBy { kCore, kAllCores };

struct MemoryLevel {
  int64_t size_bytes = 0;  // 0: unbounded
  SharedBy shared_by = SharedBy::kCore;
  // How fast one core reads what lies in the level, the same for every CPU. The first cache has 0:
  // its loads are counted as instructions (IssueRates).
  double read_bytes_a_cycle = 0;
  // The measured rate at which one core reads sequentially from the level, if it is known to be far
  // from `read_bytes_a_cycle`; nullopt: sequential reads have that rate, too.
  std::optional<double> stream_bytes_a_cycle = std::nullopt;
};

struct Memory {
  MemoryLevel l1;  // the data cache
  MemoryLevel l2 = {.read_bytes_a_cycle = 32};
  MemoryLevel l3 = {.shared_by = SharedBy::kAllCores, .read_bytes_a_cycle = 20};
  MemoryLevel dram = {.shared_by = SharedBy::kAllCores, .read_bytes_a_cycle = 8};
};

// How fast one core copies data into another layout, counting read and written bytes together. Each
// figure belongs to the cost model that it is named after.
struct CopyRates {
  double conv_rows_bytes_a_cycle = 7;        // a padded copy, or a copy out of blocks
  double winograd_phases_bytes_a_cycle = 7;  // the phases of a dilated convolution
  double conv_tiles_bytes_a_cycle = 16;      // blocks that fill the rows of tile registers
  double dense_turn_bytes_a_cycle = 3;       // a matrix that is transposed while it is packed
  double layouts_pack_bytes_a_ns = 50;       // into any layout other than row-major
  double layouts_unpack_bytes_a_ns = 16;     // into row-major
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_MEMORY_H_
