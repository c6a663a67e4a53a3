#include "compiler/schedule/generic/block_transpose.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/generic/grid_transpose.h"
#include "compiler/schedule/generic/tile_choices.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/price/thread_block.h"
#include "compiler/schedule/primitives/compute_at.h"

namespace hone::schedule {
namespace {

constexpr int64_t kTurnedTiles[] = {8, 16, 32, 64};
constexpr int64_t kTurningThreads[] = {2, 4, 8, 16, 32};
// Axes of fewer elements gain nothing: most of what a sector holds is used anyway.
constexpr int64_t kFewestTurned = 8;
constexpr int64_t kLeastTurningThreads = 64;
constexpr int64_t kMostTurningThreads = 512;
constexpr int64_t kMostTurnedElements = 16;  // of a thread
// An element behind each row of the tile: threads that read a column of it meet in no bank.
constexpr int64_t kTurnedSlack = 1;

struct TurnedTile {
  int64_t columns = 32;  // along the axis that is stored in order; each has threads
  int64_t rows = 32;     // along the one that is loaded in order
  int64_t threads = 8;   // of a column

  int64_t Threads() const { return columns * threads; }
  int64_t Elements() const { return rows / threads; }
  // Threads of a row, where rows are loaded.
  int64_t LoadingThreads() const { return Threads() / rows; }
};

using TurnedChoices = TileChoices<3>;
constexpr TurnedChoices::Knobs kTurnedKnobs = {"tile_columns", "tile_rows", "threads_rows"};

TurnedTile TurnedTileOf(const TurnedChoices::Choice& choice) {
  const auto& [columns, rows, threads] = choice;
  return {.columns = columns, .rows = rows, .threads = threads};
}

int64_t SharedBytesOf(const GridTranspose& transpose, const TurnedTile& tile) {
  int64_t bytes = 0;
  for (const TransposedLoad& load : transpose.loads) {
    bytes += tile.columns * (tile.rows + kTurnedSlack) * load.element_bytes;
  }
  return bytes;
}

bool FitsTile(const GridTranspose& transpose, const TurnedTile& tile,
              const machine::Machine& machine) {
  // At most half of a tile is beyond the end of an axis.
  if (tile.columns >= 2 * transpose.extents[transpose.columns]) return false;
  if (tile.rows >= 2 * transpose.extents[transpose.rows]) return false;
  if (tile.rows % tile.threads != 0 || tile.Threads() % tile.rows != 0) return false;
  if (tile.Elements() > kMostTurnedElements) return false;
  const int64_t most = std::min(kMostTurningThreads, machine.parallel.back().width);
  return tile.Threads() >= kLeastTurningThreads && tile.Threads() <= most &&
         SharedBytesOf(transpose, tile) <= machine.parallel.back().shared_bytes;
}

TurnedChoices TurnedChoicesOf(const GridTranspose& transpose, const machine::Machine& machine) {
  std::vector<TurnedChoices::Choice> choices;
  for (const int64_t columns : kTurnedTiles) {
    for (const int64_t rows : kTurnedTiles) {
      for (const int64_t threads : kTurningThreads) {
        const TurnedChoices::Choice choice = {columns, rows, threads};
        if (FitsTile(transpose, TurnedTileOf(choice), machine)) choices.push_back(choice);
      }
    }
  }
  return {kTurnedKnobs, std::move(choices)};
}

// The loops over a tile's part of an axis, of which some iterations may be beyond the end.
SplitLoops SplitTile(Sequence* s, const Loop& loop, int64_t extent, int64_t tile) {
  const Tail tail = extent % tile == 0 ? Tail::kExact : Tail::kGuard;
  return s->Split(loop, tile, tail, loop.Block(), loop);
}

// Threads side by side go along `along`, and some of them along `across`, of which each has
// several iterations.
void BindTile(Sequence* s, const std::vector<Loop>& around, const Loop& along, const Loop& across,
              int64_t threads) {
  const SplitLoops shares = s->Split(across, threads, Tail::kExact, across.Steps(), across.Share());
  std::vector<Loop> order = around;
  order.insert(order.end(), {shares.inner, along, shares.outer});
  s->Reorder(order);
  s->Threads(shares.inner);
  s->Threads(along);
  s->Unroll(shares.outer);
}

void CopyTile(Sequence* s, const GridTranspose& transpose, const TransposedLoad& load,
              const Stage& copy, const Loop& at, const TurnedTile& tile) {
  ComputeAtOptions options{.scope = loop::Scope::kShared, .align = {}, .layout = {}};
  options.slack.assign(load.rank, 0);
  options.slack[load.row_dim] = kTurnedSlack;
  s->ComputeAt(copy, at, options);
  const Loop row = copy.Axis(load.row_dim), column = copy.Axis(load.column_dim);
  std::vector<Loop> around;
  const auto fill = [&](const Loop& loop, int64_t extent, int64_t of_tile) {
    if (extent % of_tile != 0) around.push_back(SplitTile(s, loop, extent, of_tile).outer);
  };
  fill(column, transpose.extents[transpose.columns], tile.columns);
  fill(row, transpose.extents[transpose.rows], tile.rows);
  BindTile(s, around, row, column, tile.LoadingThreads());
}

void TurnByBlocks(Sequence* s, const GridTranspose& transpose, const TurnedTile& tile) {
  std::vector<Stage> copies;
  for (const TransposedLoad& load : transpose.loads) {
    copies.push_back(s->CacheRead(load.buffer, transpose.results));
  }
  const Loop row = transpose.results.Axis(transpose.rows);
  const Loop column = transpose.results.Axis(transpose.columns);
  std::vector<Loop> grid;
  for (size_t axis = 0; axis < transpose.extents.size(); ++axis) {
    const Loop loop = transpose.results.Axis(axis);
    if (!(loop == row) && !(loop == column)) grid.push_back(loop);
  }
  grid.push_back(SplitTile(s, row, transpose.extents[transpose.rows], tile.rows).outer);
  grid.push_back(SplitTile(s, column, transpose.extents[transpose.columns], tile.columns).outer);
  BindTile(s, grid, column, row, tile.threads);
  for (size_t i = 0; i < copies.size(); ++i) {
    CopyTile(s, transpose, transpose.loads[i], copies[i], grid.back(), tile);
  }
  for (const Loop& loop : grid) s->Parallel(loop);
  s->Simplify();
}

double TurnedCycles(const GridTranspose& transpose, const TurnedTile& tile,
                    const machine::Machine& machine) {
  constexpr double kBytesMoved = 32;  // at least, around one that is asked for
  int64_t blocks = transpose.Results();
  for (const auto& [axis, part] :
       {std::pair(transpose.rows, tile.rows), std::pair(transpose.columns, tile.columns)}) {
    blocks = blocks / transpose.extents[axis] * CeilDiv(transpose.extents[axis], part);
  }
  const auto moved = [&](int64_t bytes, int64_t neighbours) {
    return std::max(static_cast<double>(bytes), kBytesMoved / static_cast<double>(neighbours));
  };
  double bytes =
      moved(transpose.result_bytes, tile.columns) + static_cast<double>(transpose.other_bytes);
  for (const TransposedLoad& load : transpose.loads) bytes += moved(load.element_bytes, tile.rows);
  const ThreadBlocks work{.blocks = blocks,
                          .threads = tile.Threads(),
                          .results = tile.Elements(),
                          .terms = 1,
                          .loads = static_cast<double>(2 * tile.Elements()),
                          .shared_bytes = SharedBytesOf(transpose, tile),
                          .moved_bytes = static_cast<double>(tile.columns * tile.rows) * bytes,
                          .waits = 1};
  // Some four elements of a thread hide latencies, and wide tiles fill lines of memory.
  constexpr double kElements = 4, kSide = 32, kOfFactor = 0.02;
  const double factors = std::abs(std::log2(static_cast<double>(tile.Elements()) / kElements)) +
                         std::abs(std::log2(static_cast<double>(tile.columns) / kSide)) +
                         std::abs(std::log2(static_cast<double>(tile.rows) / kSide));
  return ThreadBlockCycles(work, machine) * (1 + kOfFactor * factors);
}

class BlockTransposePlan final : public Plan {
 public:
  // There is at least one choice.
  BlockTransposePlan(const Problem<GridKernel>& problem, TurnedChoices choices)
      : start_(problem.kernel.inlined),
        transpose_(*problem.kernel.transpose),
        machine_(problem.task.machine),
        choices_(std::move(choices)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return choices_.NextKnob(prefix);
  }

  std::vector<PricedConfig> Ranked() const override {
    const auto cycles_of = [&](const TurnedChoices::Choice& choice) {
      return TurnedCycles(transpose_, TurnedTileOf(choice), machine_);
    };
    std::vector<PricedConfig> ranked;
    for (const auto& [cycles, choice] : choices_.Best(cycles_of)) {
      ranked.push_back({choices_.ConfigOf(choice), cycles});
    }
    return ranked;
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    Sequence s = start_;
    TurnByBlocks(&s, transpose_, TurnedTileOf(choices_.ChoiceOf(config)));
    return std::move(s).Finish();
  }

 private:
  const Sequence start_;
  const GridTranspose transpose_;
  const machine::Machine machine_;
  const TurnedChoices choices_;
};

}  // namespace

std::unique_ptr<const Plan> OpenBlockTranspose(
    const std::shared_ptr<const Problem<GridKernel>>& problem) {
  const std::optional<GridTranspose>& transpose = problem->kernel.transpose;
  if (!transpose || transpose->extents[transpose->rows] < kFewestTurned ||
      transpose->extents[transpose->columns] < kFewestTurned) {
    return nullptr;
  }
  TurnedChoices choices = TurnedChoicesOf(*transpose, problem->task.machine);
  if (choices.all().empty()) return nullptr;
  for (const TurnedChoices::Choice& choice : {choices.all().front(), choices.all().back()}) {
    Sequence tried = problem->kernel.inlined;
    TurnByBlocks(&tried, *transpose, TurnedTileOf(choice));
    if (!tried.ok()) return nullptr;
  }
  return std::make_unique<BlockTransposePlan>(*problem, std::move(choices));
}

}  // namespace hone::schedule
