// The peak of products in tile registers (AMX), where this machine has them.
#ifndef HONE_BENCH_TILE_PEAK_H_
#define HONE_BENCH_TILE_PEAK_H_

#include <string_view>
#include <vector>

namespace hone {

// An instruction that multiplies full tiles.
struct TileProduct {
  std::string_view peak;  // what its figure is called
  double operations;      // of one instruction: multiplications and additions
  // That many instructions, independent enough to overlap, in the calling thread.
  void (*run)(int count);
};

// Those of this machine; none where the system does not lend the registers, which this asks for.
std::vector<TileProduct> TileProducts();

}  // namespace hone

#endif  // HONE_BENCH_TILE_PEAK_H_
