// The memories of a machine, from the first cache of a core to the memory behind the last one.
#ifndef HONE_COMPILER_MACHINE_MEMORY_H_
#define HONE_COMPILER_MACHINE_MEMORY_H_

#include <cstdint>
#include <optional>

namespace hone::machine {

// Bytes of a line of every cache, and of a page of memory.
inline constexpr int64_t kLineBytes = 64;
inline constexpr int64_t kPageBytes = 4096;

// Which processing elements share a level.
enum class SharedBy { kCore, kAllCores };

// How fast one core reads what lies in a level. Every analytic model was fitted by itself, so each
// has a figure of its own for the same thing; 0: the model asks for none. They are to become one
// figure a level in a change that is benchmarked.
struct ReadRates {
  double register_tile_bytes_a_cycle = 0;  // prices of register tiles (schedule/price)
  double winograd_bytes_a_cycle = 0;       // prices of Winograd's blocks (schedule/conv)
  double features_bytes_a_cycle = 0;       // the roofline of the features (loop)
  double layouts_bytes_a_ns = 0;           // prices of layouts (passes)
};

// The rule for every CPU. The second cache was read at 32 bytes a cycle at most (Emerald Rapids).
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
  int64_t size_bytes = 0;  // 0: without a bound
  SharedBy shared_by = SharedBy::kCore;
  ReadRates read;
  // What one core was measured to read from the level in order, where the CPU is known to be far
  // from the rates above; nullopt: they hold.
  std::optional<double> stream_bytes_a_cycle = std::nullopt;
};

struct Memory {
  MemoryLevel l1;  // of data
  MemoryLevel l2 = {.read = kL2Read};
  MemoryLevel l3 = {.shared_by = SharedBy::kAllCores, .read = kL3Read};
  MemoryLevel dram = {.shared_by = SharedBy::kAllCores, .read = kDramRead};
};

// How fast one core copies data into another layout, read and written bytes together. As with
// ReadRates, each figure is the one of the model that it is named after.
struct CopyRates {
  double conv_rows_bytes_a_cycle = 7;        // a padded copy, or one out of blocks
  double winograd_phases_bytes_a_cycle = 7;  // the phases of a dilated convolution
  double conv_tiles_bytes_a_cycle = 16;      // blocks that fill the rows of tile registers
  double dense_turn_bytes_a_cycle = 3;       // a matrix that is transposed while it is packed
  double layouts_pack_bytes_a_ns = 50;       // from row-major
  double layouts_unpack_bytes_a_ns = 16;     // to row-major
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_MEMORY_H_
