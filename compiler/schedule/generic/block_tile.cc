#include "compiler/schedule/generic/block_tile.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/generic/block_tile_schedule.h"
#include "compiler/schedule/generic/grid_launches.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/price/thread_block.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/rewrite/stage_schedule.h"

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
// A unit runs a block's threads so many at a time, and at most one of so many is idle.
constexpr int64_t kWarpThreads = 32;
constexpr int64_t kThreadsOfIdle = 7;
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

// The knobs, in the order in which they are chosen. `threads_lines` is there where lines are.
constexpr const char* kKnobs[] = {"row_axis",     "tile_columns",  "tile_rows", "threads_columns",
                                  "threads_rows", "threads_lines", "steps"};
// Their values for one tile; of threads_lines 1 where there are no lines.
using Choice = std::array<int64_t, std::size(kKnobs)>;

// Choices and tiles of one kernel.
class Choices {
 public:
  Choices(GridSums sums, const machine::Machine& machine)
      : sums_(std::move(sums)),
        shared_(sums_),
        machine_(machine),
        axes_(TiledAxesOf(sums_.extents)) {
    step_loop_ = static_cast<size_t>(
        std::ranges::find_if(sums_.steps, [](int64_t extent) { return extent > 1; }) -
        sums_.steps.begin());
    if (step_loop_ == sums_.steps.size()) return;
    for (const TiledAxes& axes : axes_) AddTiles(axes);
    std::ranges::sort(all_);
  }
  Choices(const Choices&) = delete;

  const GridSums& sums() const { return sums_; }
  // In ascending order.
  const std::vector<Choice>& all() const { return all_; }

  // There is a choice.
  bool HasLines() const { return axes_.front().lines.has_value(); }

  BlockTile TileOf(const Choice& choice) const {
    const auto& [row_axis, columns, rows, of_columns, of_rows, of_lines, steps] = choice;
    BlockTile tile{.axes = {}, .step_loop = step_loop_, .steps = steps};
    tile.axes.resize(sums_.extents.size());
    for (const TiledAxes& axes : axes_) {
      if (static_cast<int64_t>(axes.rows) != row_axis) continue;
      tile.axes[axes.columns] = {of_columns, columns};
      tile.axes[axes.rows] = {of_rows, rows};
      if (axes.lines) tile.axes[*axes.lines].threads = of_lines;
    }
    return tile;
  }

  double CyclesOf(const Choice& choice) const {
    const BlockTile tile = TileOf(choice);
    const int64_t shared_bytes = shared_.Bytes(tile);
    int64_t waits = sums_.steps[step_loop_] / tile.steps;
    for (size_t i = 0; i < step_loop_; ++i) waits *= sums_.steps[i];
    ThreadBlocks work{.blocks = sums_.Results() / (tile.Threads() * tile.Results()),
                      .threads = tile.Threads(),
                      .results = tile.Results(),
                      .terms = sums_.Terms(),
                      .shared_bytes = shared_bytes,
                      .copied_bytes = TrafficOf(choice, tile, shared_bytes * waits),
                      .waits = waits};
    for (const GridFactor& factor : *sums_.factors) {
      int64_t loads = 1;
      for (size_t axis = 0; axis < tile.axes.size(); ++axis) {
        if (factor.DependsOnAxis(axis)) loads *= tile.axes[axis].results;
      }
      work.loads += static_cast<double>(loads);
    }
    return ThreadBlockCycles(work, machine_);
  }

 private:
  // What a block moves between global memory and its threads. Threads side by side that do not
  // touch neighbours move more than they need.
  double TrafficOf(const Choice& choice, const BlockTile& tile, int64_t copied_bytes) const {
    constexpr int64_t kElementsMoved = 8;   // at least, with one that is asked for
    constexpr int64_t kElementsAtOnce = 4;  // of a thread
    const auto& [row_axis, columns, rows, of_columns, of_rows, of_lines, steps] = choice;
    const int64_t run = std::min(of_columns * std::min(columns, kElementsAtOnce), kElementsMoved);
    const int64_t stored_bytes = tile.Threads() * tile.Results() * 4;
    return static_cast<double>((copied_bytes + stored_bytes) * kElementsMoved) /
           static_cast<double>(run);
  }

  void AddTiles(const TiledAxes& axes) {
    const int64_t lines = axes.lines ? sums_.extents[*axes.lines] : 1;
    Choice choice{static_cast<int64_t>(axes.rows)};
    auto& [row_axis, columns, rows, of_columns, of_rows, of_lines, steps] = choice;
    for (const int64_t c : Divisors(kResultFactors, sums_.extents[axes.columns])) {
      for (const int64_t r : Divisors(kResultFactors, sums_.extents[axes.rows])) {
        if (c * r < kLeastResults || c * r > kMostResults) continue;
        columns = c;
        rows = r;
        for (const int64_t l : Divisors(kThreadFactors, lines)) {
          of_lines = l;
          AddThreads(axes, choice);
        }
      }
    }
  }

  void AddThreads(const TiledAxes& axes, Choice choice) {
    auto& [row_axis, columns, rows, of_columns, of_rows, of_lines, steps] = choice;
    for (const int64_t c : Divisors(kThreadFactors, sums_.extents[axes.columns] / columns)) {
      for (const int64_t r : Divisors(kThreadFactors, sums_.extents[axes.rows] / rows)) {
        if (!FitsBlock(c * r * of_lines)) continue;
        of_columns = c;
        of_rows = r;
        AddSteps(choice);
      }
    }
  }

  bool FitsBlock(int64_t threads) const {
    const int64_t most = std::min(kMostThreads, machine_.parallel.back().width);
    const int64_t idle = CeilDiv(threads, kWarpThreads) * kWarpThreads - threads;
    return threads >= kLeastThreads && threads <= most && idle * kThreadsOfIdle <= threads;
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
  const std::vector<TiledAxes> axes_;
  size_t step_loop_ = 0;  // the first with several steps
  std::vector<Choice> all_;
};

// Buffers that the launch of a stage loads from, and other launches fill.
std::set<std::string> StagesReadBy(const loop::Nest& nest, const Stage& stage) {
  std::set<std::string> read;
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(nest, stage.buffer());
  const absl::StatusOr<size_t> launch =
      buffer.ok() ? WriterOf(nest, *buffer) : absl::StatusOr<size_t>(buffer.status());
  if (!launch.ok()) return read;
  for (const loop::Buffer& other : nest.buffers) {
    const bool is_other = other != *buffer && other->role == loop::Role::kWorkspace;
    if (is_other && Loads(nest.launches[*launch].body, other)) read.insert(other->name);
  }
  return read;
}

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
  BlockTilePlan(Sequence start, std::set<std::string> stages, std::unique_ptr<Choices> choices)
      : start_(std::move(start)), stages_(std::move(stages)), choices_(std::move(choices)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    std::span<const Choice> left = choices_->all();
    for (size_t knob = 0; knob < std::size(kKnobs); ++knob) {
      if (!HasKnob(knob)) continue;
      const auto value_of = [knob](const Choice& choice) { return choice[knob]; };
      if (!prefix.Has(kKnobs[knob])) {
        std::vector<int64_t> values;
        for (auto at = left.begin(); at != left.end();) {
          values.push_back(value_of(*at));
          at = std::ranges::upper_bound(at, left.end(), values.back(), {}, value_of);
        }
        return IntKnob(kKnobs[knob], values);
      }
      const auto same = std::ranges::equal_range(left, prefix.Int(kKnobs[knob]), {}, value_of);
      left = {same.begin(), same.end()};
    }
    return std::nullopt;
  }

  std::vector<PricedConfig> Ranked() const override {
    constexpr size_t kMostRanked = 64;
    std::vector<std::pair<double, const Choice*>> priced;
    for (const Choice& choice : choices_->all()) {
      priced.emplace_back(choices_->CyclesOf(choice), &choice);
    }
    const size_t count = std::min(priced.size(), kMostRanked);
    std::ranges::partial_sort(priced, priced.begin() + static_cast<ptrdiff_t>(count));
    std::vector<PricedConfig> ranked;
    for (size_t i = 0; i < count; ++i) {
      ranked.push_back({ConfigOf(*priced[i].second), priced[i].first});
    }
    return ranked;
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    Choice choice;
    for (size_t knob = 0; knob < choice.size(); ++knob) {
      choice[knob] = HasKnob(knob) ? config.Int(kKnobs[knob]) : 1;
    }
    Sequence s = start_;
    TileByBlocks(&s, choices_->sums(), stages_, choices_->TileOf(choice));
    MakeGrids(&s);
    return std::move(s).Finish();
  }

 private:
  bool HasKnob(size_t knob) const {
    return std::string_view(kKnobs[knob]) != "threads_lines" || choices_->HasLines();
  }

  Config ConfigOf(const Choice& choice) const {
    Config config;
    for (size_t knob = 0; knob < choice.size(); ++knob) {
      if (HasKnob(knob)) config.Set(kKnobs[knob], choice[knob]);
    }
    return config;
  }

  const Sequence start_;
  const std::set<std::string> stages_;  // factors that the nest computes
  const std::unique_ptr<const Choices> choices_;
};

}  // namespace

std::unique_ptr<const Plan> OpenBlockTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem) {
  const Task& task = problem->task;
  if (!problem->kernel.sums) return nullptr;
  // Cheap stages that the sums read are computed where other factors are copied.
  const Stage main = problem->kernel.sums->stage;
  std::set<std::string> stages;
  for (const std::string& name : StagesReadBy(task.def->naive, main)) {
    if (!FindBuffer(problem->kernel.inlined.nest(), name).ok()) stages.insert(name);
  }
  Sequence start(task.def->naive);
  InlineCheapStages(&start, stages);
  std::optional<GridSums> sums = MainSums(start);
  if (!sums || sums->stage != main || !AllServeSeveral(*sums)) return nullptr;
  auto choices = std::make_unique<Choices>(*std::move(sums), task.machine);
  if (choices->all().empty()) return nullptr;
  Sequence tried = start;
  TileByBlocks(&tried, choices->sums(), stages, choices->TileOf(choices->all().front()));
  if (!tried.ok()) return nullptr;
  return std::make_unique<BlockTilePlan>(std::move(start), std::move(stages), std::move(choices));
}

}  // namespace hone::schedule
