#include "compiler/schedule/generic/block_tile.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/machine/background_copies.h"
#include "compiler/machine/vector_access.h"
#include "compiler/schedule/generic/block_cover.h"
#include "compiler/schedule/generic/block_tile_schedule.h"
#include "compiler/schedule/generic/copied_sums.h"
#include "compiler/schedule/generic/grid_launches.h"
#include "compiler/schedule/generic/shared_loads.h"
#include "compiler/schedule/generic/split_sums.h"
#include "compiler/schedule/generic/tile_choices.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/price/thread_block.h"

namespace hone::schedule {
namespace {

// Images are as often multiples of seven as of powers of two.
constexpr int64_t kResultFactors[] = {1, 2, 4, 7, 8};
constexpr int64_t kThreadFactors[] = {1, 2, 4, 7, 8, 14, 16, 28, 32};
constexpr int64_t kStepFactors[] = {1, 2, 4, 8, 16, 32};
// Fewer results share too little of what is loaded; more do not stay in registers.
constexpr int64_t kLeastResults = 2;
constexpr int64_t kMostResults = 64;
// Smaller blocks share little, and larger ones wait for many at each barrier.
constexpr int64_t kLeastThreads = 32;
constexpr int64_t kMostThreads = 512;
// A unit runs a block's threads so many at a time.
constexpr int64_t kWarpThreads = 32;
// Terms of a sum between barriers, where there are several steps.
constexpr int64_t kMostTerms = 128;

template <size_t count>
std::vector<int64_t> Divisors(const int64_t (&factors)[count], int64_t extent) {
  std::vector<int64_t> divisors;
  for (const int64_t factor : factors) {
    if (extent % factor == 0) divisors.push_back(factor);
  }
  return divisors;
}

// The axes that a tile goes along: columns are of the last one that has several results, lines of
// the one before, and rows of any one else, which `row_axis` names.
struct TiledAxes {
  size_t columns = 0;
  size_t rows = 0;
  std::optional<size_t> lines;
};

std::vector<TiledAxes> TiledAxesOf(const std::vector<int64_t>& extents) {
  std::vector<size_t> wide;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] > 1) wide.push_back(axis);
  }
  std::vector<TiledAxes> all;
  for (size_t i = 0; i + 1 < wide.size(); ++i) {
    TiledAxes axes{.columns = wide.back(), .rows = wide[i], .lines = std::nullopt};
    if (wide.size() > 2) {
      const size_t before = wide.size() - 2;
      axes.lines = i == before ? wide[before - 1] : wide[before];
    }
    all.push_back(axes);
  }
  return all;
}

// Values of the knobs of a tile, behind which those of its manner come.
using BlockChoices = TileChoices<7>;
using Choice = BlockChoices::Choice;

constexpr const char* kRuns = "column_runs";
constexpr const char* kAhead = "load_ahead";
constexpr const char* kSlots = "slots";
// How the threads of a tile go about it.
struct Manner {
  int64_t runs = 1;  // of a thread's columns
  bool loads_ahead = false;
  int64_t slots = 1;  // of each copy
  int64_t parts = 1;  // of each sum
};
Manner MannerOf(const Config& config) {
  return {.runs = config.Int(kRuns),
          .loads_ahead = config.Int(kAhead) != 0,
          .slots = config.Has(kSlots) ? config.Int(kSlots) : 1,
          .parts = config.Has(kPartsKnob) ? config.Int(kPartsKnob) : 1};
}

// What a thread loads ahead stays in registers.
constexpr int64_t kMostWordsAhead = 32;

constexpr int64_t kMostSlots = 4;
// An element that a thread can copy in the background by itself.
constexpr int64_t kCopiedBytes = 4;

// The first loop of the sums that has several steps; their number, where there is none.
size_t StepLoopOf(const GridSums& sums) {
  return static_cast<size_t>(
      std::ranges::find_if(sums.steps, [](int64_t extent) { return extent > 1; }) -
      sums.steps.begin());
}

// Tiles of one kernel.
class BlockTiles {
 public:
  // `has_slots`: copies may be in the background. `added_at_once`: of split sums (AddedAtOnce).
  BlockTiles(GridSums sums, const machine::Machine& machine, bool has_slots,
             std::optional<int64_t> added_at_once)
      : sums_(std::move(sums)),
        shared_(sums_),
        machine_(machine),
        has_slots_(has_slots),
        added_at_once_(added_at_once),
        axes_(TiledAxesOf(sums_.extents)),
        step_loop_(StepLoopOf(sums_)) {
    if (step_loop_ < sums_.steps.size()) AddAll();
    const bool has_lines = !axes_.empty() && axes_.front().lines;
    choices_.emplace(
        BlockChoices::Knobs{"row_axis", "tile_columns", "tile_rows", "threads_columns",
                            "threads_rows", has_lines ? "threads_lines" : nullptr, "steps"},
        std::move(all_));
  }
  BlockTiles(const BlockTiles&) = delete;

  // The results of a thread that adds up parts.
  int64_t ResultsAdded() const { return added_at_once_.value_or(1); }

  const GridSums& sums() const { return sums_; }
  const BlockChoices& choices() const { return *choices_; }
  bool has_slots() const { return has_slots_; }

  BlockTile TileOf(const Choice& choice, const Manner& manner = {}) const {
    const auto& [row_axis, columns, rows, of_columns, of_rows, of_lines, steps] = choice;
    BlockTile tile{.axes = {}, .step_loop = step_loop_, .steps = steps};
    tile.loads_ahead = manner.loads_ahead;
    tile.slots = manner.slots;
    tile.axes.resize(sums_.extents.size());
    const TiledAxes& axes = AxesOf(choice);
    tile.axes[axes.columns] = {.threads = of_columns, .results = columns, .runs = manner.runs};
    tile.axes[axes.rows] = {.threads = of_rows, .results = rows};
    if (axes.lines) tile.axes[*axes.lines].threads = of_lines;
    return tile;
  }

  // Into how many runs a thread's columns can be divided.
  std::vector<int64_t> RunsOf(const Choice& choice) const {
    const auto& [row_axis, columns, rows, of_columns, of_rows, of_lines, steps] = choice;
    std::vector<int64_t> runs = {1};
    if (of_columns == 1 || columns == 1) return runs;
    if (columns > kVectorColumns && columns % kVectorColumns == 0) {
      runs.push_back(columns / kVectorColumns);
    }
    runs.push_back(columns);
    return runs;
  }

  // Whether a thread can load what it copies next while it sums. A copy of one element is no
  // thread's own.
  bool CanLoadAhead(const Choice& choice) const {
    if (choice.back() >= sums_.steps[step_loop_]) return false;
    const BlockTile tile = TileOf(choice);
    for (size_t i = 0; i < sums_.factors->size(); ++i) {
      if (shared_.Elements(i, tile, /*with_slack=*/false) == 1) return false;
    }
    return shared_.WordsOfThread(tile) <= kMostWordsAhead;
  }

  // How many slots copies that are not loaded ahead can have.
  std::vector<int64_t> SlotsOf(const Choice& choice) const {
    std::vector<int64_t> slots = {1};
    if (!has_slots_) return slots;
    const int64_t copies = sums_.steps[step_loop_] / choice.back();
    const int64_t bytes = shared_.Bytes(TileOf(choice));
    for (int64_t more = 2; more <= kMostSlots && more <= copies; ++more) {
      if (more * bytes <= machine_.parallel.back().shared_bytes) slots.push_back(more);
    }
    return slots;
  }

  // In how many parts blocks of the manner can sum.
  std::vector<int64_t> PartsIn(const Choice& choice, const Manner& manner) const {
    if (!added_at_once_) return {1};
    const BlockTile tile = TileOf(choice);
    return PartsOf(sums_,
                   {.blocks = BlockCount(sums_.extents, tile.BlockExtents()),
                    .step_loop = step_loop_,
                    .steps = tile.steps,
                    .copies = manner.loads_ahead ? 2 : manner.slots},
                   machine_);
  }

  // The best manner without slots, and its cycles.
  std::pair<Manner, double> BestOf(const Choice& choice) const {
    BlockTile tile = TileOf(choice);
    const size_t columns = AxesOf(choice).columns;
    std::vector<std::vector<int64_t>> strides;
    for (size_t i = 0; i < sums_.factors->size(); ++i) {
      strides.push_back(shared_.AxisStrides(i, tile));
    }
    Manner best;
    double fewest_loads = std::numeric_limits<double>::infinity();
    for (const int64_t runs : RunsOf(choice)) {
      tile.axes[columns].runs = runs;
      const double loads = SharedLoads(sums_, tile, columns, strides);
      if (loads >= fewest_loads) continue;
      fewest_loads = loads;
      best.runs = runs;
    }
    tile.axes[columns].runs = best.runs;
    const double cycles = FewestCycles(tile, columns, fewest_loads, choice, &best);
    if (!CanLoadAhead(choice)) return {best, cycles};
    Manner ahead = best;
    ahead.loads_ahead = true;
    const double cycles_ahead = FewestCycles(tile, columns, fewest_loads, choice, &ahead);
    return cycles_ahead < cycles ? std::pair(ahead, cycles_ahead) : std::pair(best, cycles);
  }

 private:
  // Whether all tiles that divide the axis are small, and whether one may reach beyond its end:
  // what lies there is behind the ends of the factors, too.
  bool NeedsTails(size_t axis) const {
    const int64_t extent = sums_.extents[axis];
    for (const int64_t threads : kThreadFactors) {
      const int64_t most = std::min(extent, kWarpThreads);
      for (const int64_t results : kResultFactors) {
        if (threads * results >= most && extent % (threads * results) == 0) return false;
      }
    }
    return std::ranges::all_of(
        *sums_.factors, [&](const GridFactor& factor) { return factor.GoesUpWithAxis(axis); });
  }

  const TiledAxes& AxesOf(const Choice& choice) const {
    return *std::ranges::find(axes_, static_cast<size_t>(choice.front()), &TiledAxes::rows);
  }

  // Gives the manner the best number of parts, and returns its cycles.
  double FewestCycles(const BlockTile& tile, size_t columns, double loads, const Choice& choice,
                      Manner* manner) const {
    double fewest = std::numeric_limits<double>::infinity();
    for (const int64_t parts : PartsIn(choice, *manner)) {
      ThreadBlocks work = WorkOf(tile, columns, parts);
      work.loads = loads;
      if (manner->loads_ahead) work.words_ahead = shared_.WordsOfThread(tile);
      const double cycles = ThreadBlockCycles(work, machine_) +
                            AddPartsCycles(sums_.Results(), ResultsAdded(), parts, machine_);
      if (cycles >= fewest) continue;
      fewest = cycles;
      manner->parts = parts;
    }
    return fewest;
  }

  // All but what is loaded from shared memory, if so many blocks share each sum.
  ThreadBlocks WorkOf(const BlockTile& tile, size_t columns, int64_t parts) const {
    const int64_t shared_bytes = shared_.Bytes(tile);
    int64_t waits = sums_.steps[step_loop_] / parts / tile.steps;
    for (size_t i = 0; i < step_loop_; ++i) waits *= sums_.steps[i];
    return {.blocks = parts * BlockCount(sums_.extents, tile.BlockExtents()),
            .threads = tile.Threads(),
            .results = tile.Results(),
            .terms = sums_.Terms() / parts,
            .shared_bytes = shared_bytes,
            .moved_bytes = TrafficOf(tile, columns, shared_bytes * waits),
            .waits = waits};
  }

  // What a block moves between global memory and its threads. Threads side by side that do not
  // touch neighbours move more than they need.
  static double TrafficOf(const BlockTile& tile, size_t columns_axis, int64_t copied_bytes) {
    constexpr int64_t kElementsMoved = 8;   // at least, with one that is asked for
    constexpr int64_t kElementsAtOnce = 4;  // of a thread
    const AxisTile& columns = tile.axes[columns_axis];
    const int64_t at_once = std::min(columns.results / columns.runs, kElementsAtOnce);
    const int64_t run = std::min(columns.threads * at_once, kElementsMoved);
    const int64_t stored_bytes = tile.Threads() * tile.Results() * 4;
    return static_cast<double>((copied_bytes + stored_bytes) * kElementsMoved) /
           static_cast<double>(run);
  }

  // Tiles of one axis.
  template <size_t threads, size_t results>
  std::vector<AxisTile> TilesOf(size_t axis, const int64_t (&thread_factors)[threads],
                                const int64_t (&result_factors)[results]) const {
    std::vector<AxisTile> tiles;
    for (const int64_t r : result_factors) {
      for (const int64_t t : thread_factors) {
        if (Covers(axis, t * r)) tiles.push_back({.threads = t, .results = r});
      }
    }
    return tiles;
  }

  // Where tiles of some size divide the axis there is no need of others.
  bool Covers(size_t axis, int64_t tile) const {
    const int64_t extent = sums_.extents[axis];
    return extent % tile == 0 || (needs_tails_[axis] && IsMostlyBusy(extent, tile));
  }

  void AddAll() {
    for (size_t axis = 0; axis < sums_.extents.size(); ++axis) {
      needs_tails_.push_back(NeedsTails(axis));
    }
    for (const TiledAxes& axes : axes_) AddTiles(axes);
  }

  void AddTiles(const TiledAxes& axes) {
    const std::vector<AxisTile> columns = TilesOf(axes.columns, kThreadFactors, kResultFactors);
    const std::vector<AxisTile> rows = TilesOf(axes.rows, kThreadFactors, kResultFactors);
    std::vector<AxisTile> lines = {{}};
    if (axes.lines) lines = TilesOf(*axes.lines, kThreadFactors, {1});
    for (const AxisTile& c : columns) {
      for (const AxisTile& r : rows) {
        const int64_t results = c.results * r.results;
        if (results < kLeastResults || results > kMostResults) continue;
        for (const AxisTile& l : lines) {
          if (!FitsBlock(c.threads * r.threads * l.threads)) continue;
          AddSteps({static_cast<int64_t>(axes.rows), c.results, r.results, c.threads, r.threads,
                    l.threads, 1});
        }
      }
    }
  }

  bool FitsBlock(int64_t threads) const {
    const int64_t most = std::min(kMostThreads, machine_.parallel.back().width);
    return threads >= kLeastThreads && threads <= most && IsMostlyBusy(threads, kWarpThreads);
  }

  void AddSteps(Choice choice) {
    int64_t terms = 1;  // of a step
    for (size_t i = step_loop_ + 1; i < sums_.steps.size(); ++i) terms *= sums_.steps[i];
    for (const int64_t steps : Divisors(kStepFactors, sums_.steps[step_loop_])) {
      choice.back() = steps;
      if (steps > 1 && steps * terms > kMostTerms) break;
      if (shared_.Bytes(TileOf(choice)) > machine_.parallel.back().shared_bytes) break;
      all_.push_back(choice);
    }
  }

  const GridSums sums_;
  const SharedCopies shared_;
  const machine::Machine machine_;
  const bool has_slots_;
  const std::optional<int64_t> added_at_once_;  // nullopt: sums cannot be split
  const std::vector<TiledAxes> axes_;
  const size_t step_loop_;
  std::vector<bool> needs_tails_;  // of each axis
  std::vector<Choice> all_;        // while they are found
  std::optional<BlockChoices> choices_;
};

// Whether every factor is one that several results share.
bool AllServeSeveral(const GridSums& sums) {
  return sums.factors && std::ranges::all_of(*sums.factors, [&](const GridFactor& factor) {
           for (size_t axis = 0; axis < sums.extents.size(); ++axis) {
             if (sums.extents[axis] > 1 && !factor.DependsOnAxis(axis)) return true;
           }
           return false;
         });
}

class BlockTilePlan final : public Plan {
 public:
  // There is at least one choice.
  BlockTilePlan(Sequence start, std::set<std::string> stages, std::unique_ptr<BlockTiles> tiles)
      : start_(std::move(start)), stages_(std::move(stages)), tiles_(std::move(tiles)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (std::optional<Knob> knob = tiles_->choices().NextKnob(prefix)) return knob;
    const Choice choice = tiles_->choices().ChoiceOf(prefix);
    if (!prefix.Has(kRuns)) return IntKnob(kRuns, tiles_->RunsOf(choice), 1);
    if (!prefix.Has(kAhead)) {
      return IntKnob(
          kAhead,
          tiles_->CanLoadAhead(choice) ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}, 0);
    }
    if (tiles_->has_slots() && prefix.Int(kAhead) == 0 && !prefix.Has(kSlots)) {
      return IntKnob(kSlots, tiles_->SlotsOf(choice), 1);
    }
    if (prefix.Has(kPartsKnob)) return std::nullopt;
    const std::vector<int64_t> parts = tiles_->PartsIn(choice, MannerOf(prefix));
    if (parts.size() == 1) return std::nullopt;
    return IntKnob(kPartsKnob, parts, 1);
  }

  std::vector<PricedConfig> Ranked() const override {
    const auto cycles_of = [&](const Choice& choice) { return tiles_->BestOf(choice).second; };
    std::vector<PricedConfig> ranked;
    for (const auto& [cycles, choice] : tiles_->choices().Best(cycles_of)) {
      const Manner manner = tiles_->BestOf(choice).first;
      Config config = tiles_->choices().ConfigOf(choice);
      config.Set(kRuns, manner.runs);
      config.Set(kAhead, int64_t{manner.loads_ahead});
      if (tiles_->has_slots() && !manner.loads_ahead) config.Set(kSlots, manner.slots);
      if (tiles_->PartsIn(choice, manner).size() > 1) config.Set(kPartsKnob, manner.parts);
      ranked.push_back({std::move(config), cycles});
    }
    return ranked;
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    const Manner manner = MannerOf(config);
    const BlockTile tile = tiles_->TileOf(tiles_->choices().ChoiceOf(config), manner);
    Sequence s = start_;
    if (manner.parts == 1) {
      TileByBlocks(&s, tiles_->sums(), stages_, tile);
    } else {
      const GridSums parts =
          SplitSums(&s, tiles_->sums(), tile.step_loop, manner.parts, tiles_->ResultsAdded());
      TileByBlocks(&s, parts, stages_, tile.OfPart());
    }
    MakeGrids(&s);
    return std::move(s).Finish();
  }

 private:
  const Sequence start_;
  const std::set<std::string> stages_;  // factors that the nest computes
  const std::unique_ptr<const BlockTiles> tiles_;
};

}  // namespace

std::unique_ptr<const Plan> OpenBlockTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem) {
  std::optional<CopiedSums> copied = ViewCopiedSums(*problem);
  if (!copied || !AllServeSeveral(copied->sums)) return nullptr;
  const bool has_slots = machine::CopiesInBackground(problem->task.target) &&
                         CopiesFromGlobal(*copied) &&
                         std::ranges::all_of(*copied->sums.factors, [](const GridFactor& factor) {
                           return factor.element_bytes == kCopiedBytes;
                         });
  const size_t step_loop = StepLoopOf(copied->sums);
  std::optional<int64_t> added_at_once;
  if (step_loop < copied->sums.steps.size()) {
    added_at_once = AddedAtOnce(copied->start, copied->sums, step_loop, problem->task.machine,
                                machine::HasVectorAccess(problem->task.target));
  }
  auto tiles = std::make_unique<BlockTiles>(std::move(copied->sums), problem->task.machine,
                                            has_slots, added_at_once);
  if (tiles->choices().all().empty()) return nullptr;
  Sequence tried = copied->start;
  const Choice& first = tiles->choices().all().front();
  TileByBlocks(&tried, tiles->sums(), copied->stages, tiles->TileOf(first));
  if (!tried.ok()) return nullptr;
  return std::make_unique<BlockTilePlan>(std::move(copied->start), std::move(copied->stages),
                                         std::move(tiles));
}

}  // namespace hone::schedule
