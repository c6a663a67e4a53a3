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

// The most blocks that the rows of tiles are divided into where sums are taken in chunks.
inline constexpr int64_t kMostRowBlocks = 8;

struct RegisterTileProblem {
  int64_t vectors = 1;       // of the whole output, along the vector axis
  int64_t vector_group = 0;  // the vectors of a tile must divide it; 0: no limit
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t steps = 1;  // additions to each accumulator
  int64_t registers = 32;
  // For weights that lie in panels as wide as the tile and are read again for every tile of
  // positions: the bytes of a vector of weights, and those of the second cache. 0: the weights do
  // not lie so.
  int64_t vector_bytes = 0;
  int64_t l2_bytes = 0;
  // What a core reads in a cycle from the second cache, and from behind it.
  double l2_bytes_a_cycle = machine::Memory().l2.read_bytes_a_cycle;
  double stream_bytes_a_cycle = machine::Memory().l3.read_bytes_a_cycle;
  machine::IssueRates issue;
  double step_multiply_adds = 1;  // what StepMultiplyAdds says
  // The least number of steps that may be taken for all tiles of a block (rows of tiles) before the
  // next steps are, so that this part of the panel stays in the first cache. 0: each tile takes its
  // whole sum at once.
  int64_t chunk_steps = 0;
  // The bytes from the data of a column to those of the next one, where columns are rows of a
  // matrix. Data that are whole pages apart compete for the few lines of one set of the first
  // cache. 0: the data lie side by side.
  int64_t column_bytes = 0;
  int64_t steps_at_once = 1;  // unrolled; they read as many neighbours in a column
  int64_t l1_bytes = 0;       // 0: data that do not stay there cost nothing
  // Measured times; nullptr: BestTile goes by its rule alone. With them it also counts the waiting
  // for weights that do not fit the first cache, and how unevenly the work divides over `threads`.
  // The threads share `grid` such problems, each of them by groups of vectors, by rows of tiles
  // and, with `shares_columns`, by columns of tiles.
  std::shared_ptr<const MicroKernelTimes> times = nullptr;
  int64_t threads = 1;
  int64_t grid = 1;
  bool shares_columns = false;
};

// How many multiply-adds of float32 vectors take as long as one of a step's products of vectors,
// which adds `dot` terms to each lane: as many as the machine says for dot products of bfloat16,
// one for all others.
double StepMultiplyAdds(const machine::IssueRates& issue, ProductKind kind, int64_t dot);

// Whether `registers` hold the accumulators of a tile (positions * vectors), its vectors of weights
// and one broadcast value.
bool FitsRegisters(const RegisterTile& tile, int64_t registers);

// The sizes up to `limit` that fit and split `extent` as evenly as their number of tiles allows (7
// is 4 + 3, not 5 + 2 or 6 + 1), and the largest size that fits; ascending.
std::vector<int64_t> EvenSizes(int64_t extent, int64_t limit,
                               const std::function<bool(int64_t)>& fits);

// Removes the sizes that do not divide `extent`, if a size that does is at least half the largest.
// `sizes` are ascending and not empty.
void KeepExact(int64_t extent, std::vector<int64_t>* sizes);

// The knobs "tile_v", "tile_h", "tile_w", in this order; nullopt once all are chosen.
std::optional<Knob> NextTileKnob(const RegisterTileProblem& problem, const Config& prefix);
RegisterTile TileOf(const Config& config);
void SetTile(const RegisterTile& tile, Config* config);

// Fused multiply-adds that an unrolled body may have.
inline constexpr int64_t kMaxEmittedFmas = 256;
// 1, and those of `factors` that divide `extent` and keep the body of a tile within
// kMaxEmittedFmas.
std::vector<int64_t> UnrollOptions(std::initializer_list<int64_t> factors, int64_t extent,
                                   const RegisterTile& tile);
inline constexpr int64_t kStepsAtOnce = 4;
// The largest of these options that is at most four steps at once: such steps share their addresses
// and the loop's own instructions. A tile of one position uses each vector that it loads only once,
// so its body may have more loads than a prefetcher follows that tells streams apart by their
// instructions: 32 loads took half again as long as 8 to 28 (Zen 5, data in the second cache). So
// where four steps of such a tile have more than 16 loads, the answer is one step. The limit of 16
// leaves a margin, since the loop's other loads count too. It is one step because micro-kernels are
// measured with one and with four.
int64_t FourStepsAtOnce(const std::vector<int64_t>& options, const RegisterTile& tile);

// The number of tiles of positions, which read a panel of weights one after the other.
int64_t TilesOfPanel(const RegisterTileProblem& problem, const RegisterTile& tile);

// Cycles of starting, finishing and storing a tile.
double TileOverhead(const RegisterTile& tile);

// The tile of the space with the least cycles by a rule: steps take the cycles that `issue` gives,
// smaller tiles at the ends count at their own sizes, and panels that do not stay in the first or
// the second cache come at the bandwidth of what is behind it. With measured times, only tiles that
// are about as fast by these as the fastest are compared by the rule.
RegisterTile BestTile(const RegisterTileProblem& problem);
// The cycles of all tiles of one such problem on one core; to compare strategies.
double TileCycles(const RegisterTileProblem& problem, const RegisterTile& tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_REGISTER_TILE_H_
