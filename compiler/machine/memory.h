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

// How fast one core reads what lies in a level. Each analytic model was fitted on its own and so
// has its own figure for the same thing; 0 if the model does not use one. They should become one
// figure per level, in a change that is benchmarked.
struct ReadRates {
  double register_tile_bytes_a_cycle = 0;  // prices of register tiles (schedule/price)
  double winograd_bytes_a_cycle = 0;       // prices of Winograd's blocks (schedule/conv)
  double features_bytes_a_cycle = 0;       // the roofline of the features (loop)
  double layouts_bytes_a_ns = 0;           // prices of layouts (passes)
};

// These rates are assumed of every CPU, apart from MemoryLevel::stream_bytes_a_cycle. The highest
// rate measured from an L2 cache (on Emerald Rapids) was 32 bytes a cycle; the rate for Winograd is
// higher because it was fitted to the times of whole kernels.
inline constexpr ReadRates kL2Read = {.register_tile_bytes_a_cycle = 32,
                                      .winograd_bytes_a_cycle = 48,
                                      .features_bytes_a_cycle = 32,
                                      .layouts_bytes_a_ns = 100};
inline constexpr ReadRates kL3Read = {.register_tile_bytes_a_cycle = 20,
                                      .winograd_bytes_a_cycle = 24,
                                      .features_bytes_a_cycle = 12,
                                      .layouts_bytes_a_ns = 60};
inline constexpr ReadRates kDramRead = {
    .winograd_bytes_a_cycle = 10, .features_bytes_a_cycle = 6, .layouts_bytes_a_ns = 25};

struct MemoryLevel {
  int64_t size_bytes = 0;  // 0: unbounded
  SharedBy shared_by = SharedBy::kCore;
  ReadRates read;
  // The measured rate at which one core reads sequentially from the level, if it is known to be far
  // from `read`; nullopt if `read` holds.
  std::optional<double> stream_bytes_a_cycle = std::nullopt;
};

struct Memory {
  MemoryLevel l1;  // the data cache
  MemoryLevel l2 = {.read = kL2Read};
  MemoryLevel l3 = {.shared_by = SharedBy::kAllCores, .read = kL3Read};
  MemoryLevel dram = {.shared_by = SharedBy::kAllCores, .read = kDramRead};
};

// How fast one core copies data into another layout, counting read and written bytes together. As
// in ReadRates, each figure belongs to the model that it is named after.
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
