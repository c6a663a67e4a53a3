#include "compiler/schedule/generic/thread_tile.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/loop/visit.h"
#include "compiler/machine/vector_access.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/generic/grid_launches.h"
#include "compiler/schedule/generic/result_vectors.h"
#include "compiler/schedule/generic/thread_tile_schedule.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/price/gpu_unit.h"
#include "compiler/schedule/price/thread_block.h"

namespace hone::schedule {
namespace {

// Factors of a tile; the registers of a thread hold not many more results.
constexpr int64_t kFactors[] = {1, 2, 4, 8};
constexpr int64_t kMostResults = 32;
// A tile of so many results loads few enough factors for each.
constexpr int64_t kDefaultResults = 8;

std::vector<int64_t> TileFactors(int64_t extent) {
  std::vector<int64_t> factors;
  for (const int64_t factor : kFactors) {
    if (extent % factor == 0) factors.push_back(factor);
  }
  return factors;
}

// All tiles of the sums, by the order of the knobs.
std::vector<ThreadTile> TilesOf(const GridSums& sums) {
  std::vector<ThreadTile> tiles;
  for (const int64_t columns : TileFactors(sums.extents.back())) {
    tiles.push_back({columns});
    for (size_t axis = sums.extents.size() - 1; axis-- > 0;) {
      for (const int64_t rows : TileFactors(sums.extents[axis])) {
        if (rows > 1 && columns * rows <= kMostResults) tiles.push_back({columns, rows, axis});
      }
    }
  }
  return tiles;
}

Config ConfigOfTile(const ThreadTile& tile) {
  Config config;
  config.Set("tile_columns", tile.columns);
  config.Set("tile_rows", tile.rows);
  if (tile.rows > 1) config.Set("row_axis", static_cast<int64_t>(tile.row_axis));
  return config;
}

ThreadTile ThreadTileOf(const Config& config) {
  ThreadTile tile{.columns = config.Int("tile_columns"), .rows = config.Int("tile_rows")};
  if (tile.rows > 1) tile.row_axis = static_cast<size_t>(config.Int("row_axis"));
  return tile;
}

constexpr int64_t kBlockThreads = 128;
constexpr double kPassesOfLoad = 4;
constexpr int64_t kTermsOfWait = 16;

int64_t ProductOfExtents(const std::vector<loop::Stmt>& loops) {
  int64_t product = 1;
  for (const loop::Stmt& loop : loops) {
    int64_t extent = 1;
    if (loop::IsConstInt(loop->extent, &extent)) product *= extent;
  }
  return product;
}

// Cycles of all launches but the one of `main`, each with one result a thread.
double CyclesOfOthers(const loop::Nest& nest, const Stage& main, const machine::Machine& machine) {
  double cycles = 0;
  for (const loop::Launch& launch : nest.launches) {
    if (launch.name == main.buffer()) continue;
    const int64_t steps = ProductOfExtents(loop::CollectLoops(loop::InsideLoops(launch.body)));
    const int64_t all = ProductOfExtents(loop::CollectLoops(launch.body));
    cycles +=
        gpu_unit::kLaunchCycles + ThreadBlockCycles({.blocks = CeilDiv(all / steps, kBlockThreads),
                                                     .threads = kBlockThreads,
                                                     .results = 1,
                                                     .terms = steps,
                                                     .loads = steps > 1 ? kPassesOfLoad : 1,
                                                     .waits = 1 + steps / kTermsOfWait},
                                                    machine);
  }
  return cycles;
}

// Cycles of a stage that loads across what it stores: threads side by side load no neighbours, and
// so much around each element.
double CyclesAcross(const GridTranspose& transpose, const machine::Machine& machine) {
  constexpr int64_t kBytesAround = 32;
  const int64_t loaded = kBytesAround * static_cast<int64_t>(transpose.loads.size());
  const int64_t bytes = transpose.result_bytes + transpose.other_bytes + loaded;
  return ThreadBlockCycles({.blocks = CeilDiv(transpose.Results(), kBlockThreads),
                            .threads = kBlockThreads,
                            .results = 1,
                            .terms = 1,
                            .loads = 1,
                            .moved_bytes = static_cast<double>(kBlockThreads * bytes),
                            .waits = 1},
                           machine);
}

// Where the kernel has sums that a thread can compute several of, the configs are the tiles;
// otherwise there is one config.
class ThreadTilePlan final : public Plan {
 public:
  explicit ThreadTilePlan(const Problem<GridKernel>& problem)
      : machine_(problem.task.machine),
        has_vectors_(machine::HasVectorAccess(problem.task.target)),
        inlined_(problem.kernel.inlined) {
    const std::optional<GridSums>& sums = problem.kernel.sums;
    // What has rows is compared with one launch for all stages.
    if (problem.kernel.rows) {
      const Stage main = sums ? sums->stage : Stage();
      others_cycles_ = CyclesOfOthers(inlined_.nest(), main, machine_);
    }
    if (problem.kernel.transpose) {
      others_cycles_ = CyclesAcross(*problem.kernel.transpose, machine_);
    }
    if (!sums || !CanTileSums(inlined_, *sums)) return;
    sums_ = sums;
    tiles_ = TilesOf(*sums_);
  }

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (!sums_) return std::nullopt;
    if (!prefix.Has("tile_columns")) {
      return IntKnob("tile_columns", Options([](const ThreadTile& t) { return t.columns; },
                                             [](const ThreadTile&) { return true; }));
    }
    const auto has_columns = [columns = prefix.Int("tile_columns")](const ThreadTile& t) {
      return t.columns == columns;
    };
    if (!prefix.Has("tile_rows")) {
      return IntKnob("tile_rows", Options([](const ThreadTile& t) { return t.rows; }, has_columns));
    }
    const int64_t rows = prefix.Int("tile_rows");
    if (rows == 1 || prefix.Has("row_axis")) return std::nullopt;
    return IntKnob("row_axis",
                   Options([](const ThreadTile& t) { return static_cast<int64_t>(t.row_axis); },
                           [&](const ThreadTile& t) { return has_columns(t) && t.rows == rows; }));
  }

  // The largest tiles that leave every unit threads enough come first, and of those of one size the
  // one that loads least.
  std::vector<PricedConfig> Ranked() const override {
    if (!sums_) return {{Config(), others_cycles_}};
    std::vector<ThreadTile> tiles = tiles_;
    const auto rank = [&](const ThreadTile& tile) {
      const int64_t threads = sums_->Results() / tile.Results();
      const bool is_default = tile.Results() <= kDefaultResults && tile.SharesLoads(*sums_) &&
                              threads >= gpu_unit::kBusyThreads * machine_.parallel.front().width;
      return std::tuple(!is_default, -tile.Results(), tile.Loads(*sums_));
    };
    std::ranges::stable_sort(tiles, {}, rank);
    // Where none leaves threads enough, a thread has one result.
    if (std::get<0>(rank(tiles.front()))) {
      std::ranges::stable_partition(tiles, [](const ThreadTile& t) { return t.Results() == 1; });
    }
    std::vector<PricedConfig> ranked;
    for (const ThreadTile& tile : tiles) ranked.push_back({ConfigOfTile(tile), CyclesOf(tile)});
    return ranked;
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    Sequence s = inlined_;
    if (sums_) TileSums(&s, *sums_, ThreadTileOf(config));
    if (has_vectors_) StoreVectors(&s, gpu_unit::kBusyThreads * machine_.parallel.front().width);
    MakeGrids(&s);
    return std::move(s).Finish();
  }

 private:
  // What threads load is in no order that suits them all, and neighbours wait for each other.
  double CyclesOf(const ThreadTile& tile) const {
    return others_cycles_ +
           ThreadBlockCycles({.blocks = CeilDiv(sums_->Results() / tile.Results(), kBlockThreads),
                              .threads = kBlockThreads,
                              .results = tile.Results(),
                              .terms = sums_->Terms(),
                              .loads = kPassesOfLoad * static_cast<double>(tile.Loads(*sums_)),
                              .waits = sums_->Terms() / kTermsOfWait},
                             machine_);
  }

  // What the tiles that `counts` have of a knob, each once.
  template <typename Get, typename Counts>
  std::vector<int64_t> Options(const Get& get, const Counts& counts) const {
    std::vector<int64_t> options;
    for (const ThreadTile& tile : tiles_) {
      if (counts(tile) && std::ranges::count(options, get(tile)) == 0) options.push_back(get(tile));
    }
    return options;
  }

  const machine::Machine machine_;
  const bool has_vectors_;
  const Sequence inlined_;
  std::optional<GridSums> sums_;
  std::vector<ThreadTile> tiles_;  // of the sums
  // Those of launches beside the sums, where the kernel has rows or a transpose; else 0.
  double others_cycles_ = 0;
};

}  // namespace

std::unique_ptr<const Plan> OpenThreadTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem) {
  return std::make_unique<ThreadTilePlan>(*problem);
}

}  // namespace hone::schedule
