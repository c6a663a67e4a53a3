// Instructions that multiply tile registers (AMX), to find the peak rate of a machine that has
// them.
#ifndef HONE_BENCH_TILE_PEAK_H_
#define HONE_BENCH_TILE_PEAK_H_

#include <string_view>
#include <vector>

namespace hone {

// An instruction that multiplies full tiles.
struct TileProduct {
  std::string_view peak;  // the name of the peak in the results: "tile_int8_gops"
  double operations;      // multiplications and additions of one instruction
  // Runs at least `count` of these instructions in the calling thread. They are independent enough
  // to overlap.
  void (*run)(int count);
};

// The instructions that this machine has. Asks the system for tile registers; empty if it lends
// none.
std::vector<TileProduct> TileProducts();

}  // namespace hone

#endif  // HONE_BENCH_TILE_PEAK_H_
