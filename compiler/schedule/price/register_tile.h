// The register tile that conv2d and dense share: accumulators of `vectors` whole vectors by `rows`
// x `columns` positions stay in registers over all steps of the sum.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_REGISTER_TILE_H_
#define HONE_COMPILER_SCHEDULE_PRICE_REGISTER_TILE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/machine/memory.h"
#include "compiler/machine/units.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/micro_kernels.h"
#include "compiler/schedule/space.h"

namespace hone::schedule {

struct RegisterTile {
  int64_t vectors = 1;
  int64_t rows = 1;
  int64_t columns = 1;
};

// The most blocks of rows of tiles, where their sums are taken in chunks.
inline constexpr int64_t kMostRowBlocks = 8;

struct RegisterTileProblem {
  int64_t vectors = 1;       // of the whole output, in the vector axis
  int64_t vector_group = 0;  // a tile is a part of so many of them; 0: of any
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t steps = 1;  // additions to each accumulator
  int64_t registers = 32;
  // Where the vectors of weights lie in panels as wide as the tile, which are read again for every
  // tile of positions: bytes of a vector, and of the second cache. 0: elsewhere.
  int64_t vector_bytes = 0;
  int64_t l2_bytes = 0;
  // What a core reads in a cycle from the second cache, and from behind it.
  double l2_bytes_a_cycle = machine::kL2Read.register_tile_bytes_a_cycle;
  double stream_bytes_a_cycle = machine::kL3Read.register_tile_bytes_a_cycle;
  machine::IssueRates issue;
  double step_multiply_adds = 1;  // StepMultiplyAdds
  // Steps of the smallest part of a panel that may be used for a block of rows of tiles before the
  // next part is read. 0: a tile's sum is taken at once.
  int64_t chunk_steps = 0;
  // From what a column reads to what the next one does, where columns are rows of a matrix: whole
  // pages apart they share the few lines of one set of the first cache. 0: side by side.
  int64_t column_bytes = 0;
  int64_t steps_at_once = 1;  // which read as many neighbours of each column
  int64_t l1_bytes = 0;       // 0: what does not stay there costs nothing
  // Measured; nullptr: the rule of BestTile alone. With it, what is waited for of weights that do
  // not fit the first cache and the threads' shares count too: `grid` such problems, groups of
  // vectors and rows of tiles (or of their columns too) are shared.
  std::shared_ptr<const MicroKernelTimes> times = nullptr;
  int64_t threads = 1;
  int64_t grid = 1;
  bool shares_columns = false;
};

// The multiply-adds of float32 vectors in whose time a core makes a step's product of vectors, of
// `dot` terms: a dot product of bytes takes that of one, of bfloat16 what the machine says.
double StepMultiplyAdds(const machine::IssueRates& issue, ProductKind kind, int64_t dot);

// positions * vectors accumulators, a vector of weights each, one broadcast value.
bool FitsRegisters(const RegisterTile& tile, int64_t registers);

// Sizes that split `extent` as evenly as their number of tiles allows (7 is 4 + 3, not 5 + 2 or
// 6 + 1), and the largest that fits.
std::vector<int64_t> EvenSizes(int64_t extent, int64_t limit,
                               const std::function<bool(int64_t)>& fits);

// Leaves out what does not divide `extent`, if something of at least half the largest size does.
void KeepExact(int64_t extent, std::vector<int64_t>* sizes);

// The knobs "tile_v", "tile_h", "tile_w", in this order; nullopt once all are chosen.
std::optional<Knob> NextTileKnob(const RegisterTileProblem& problem, const Config& prefix);
RegisterTile TileOf(const Config& config);
void SetTile(const RegisterTile& tile, Config* config);

// Fused multiply-adds that an unrolled body may have.
inline constexpr int64_t kMaxEmittedFmas = 256;
// 1, and those of `factors` that divide `extent` and keep the body of a tile within that.
std::vector<int64_t> UnrollOptions(std::initializer_list<int64_t> factors, int64_t extent,
                                   const RegisterTile& tile);
inline constexpr int64_t kStepsAtOnce = 4;
// The one of these options that is four steps at once, if there are so many: these share their
// addresses and the loop's own instructions. Vectors of a tile with one position are read once: to
// a prefetcher that tells streams apart by the instruction, many loads are more than it follows,
// and 32 of them took half again as long as 8 to 28 (Zen 5, what is read in the second cache). More
// than 16 are one step at a time: a margin, since the loop's other loads count too, and one step
// because micro-kernels are measured with one and with four.
int64_t FourStepsAtOnce(const std::vector<int64_t>& options, const RegisterTile& tile);

// Tiles of positions, which read a panel of weights one after the other.
int64_t TilesOfPanel(const RegisterTileProblem& problem, const RegisterTile& tile);

// Cycles of starting, finishing and storing a tile.
double TileOverhead(const RegisterTile& tile);

// The tile of the space with the least cycles on a machine with two FMA units of four cycles'
// latency and two loads a cycle, tails counted at their own sizes, panels that do not stay in the
// first or the second cache at the bandwidth of what is behind it. With measured times, of those
// tiles that are about as fast as the fastest by them.
RegisterTile BestTile(const RegisterTileProblem& problem);
// Its cycles; to compare strategies.
double TileCycles(const RegisterTileProblem& problem, const RegisterTile& tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_REGISTER_TILE_H_
