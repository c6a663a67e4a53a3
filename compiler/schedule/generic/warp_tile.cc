#include "compiler/schedule/generic/warp_tile.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/launch_access.h"
#include "compiler/machine/tensor_cores.h"
#include "compiler/schedule/generic/grid_launches.h"
#include "compiler/schedule/generic/warp_tile_schedule.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/price/warp_block.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/rewrite/stage_schedule.h"

namespace hone::schedule {
namespace {

// The knobs, in the order in which they are chosen. `warps_lines` is there where lines are.
constexpr const char* kWarpKnobs[] = {"tile_columns", "tile_rows",   "warps_columns",
                                      "warps_rows",   "warps_lines", "steps"};
constexpr size_t kLinesKnob = 4;
// Their values for one tile; of warps_lines 1 where there are no lines.
using WarpChoice = std::array<int64_t, std::size(kWarpKnobs)>;

constexpr int64_t kWarpColumns[] = {8, 16, 24, 32, 64};
constexpr int64_t kWarpRows[] = {16, 32, 48, 64};
// Sizes of networks and numbers of units have factors of three, images of seven.
constexpr int64_t kBlockWarps[] = {1, 2, 3, 4, 7, 8};
constexpr int64_t kWarpSteps[] = {16, 32, 64};
// One warp alone has nobody to share copies with; a block of more waits for many at each barrier.
constexpr int64_t kFewestWarps = 2;
constexpr int64_t kMostWarps = 16;
// Registers that a block's threads share, that one may have, and those beside its sums.
constexpr int64_t kRegistersOfBlock = 65536;
constexpr int64_t kMostRegisters = 255;
constexpr int64_t kRegistersBeside = 64;

WarpTile TileOfWarps(const WarpChoice& choice) {
  const auto& [columns, rows, warps_columns, warps_rows, warps_lines, steps] = choice;
  return {.rows = rows,
          .lanes = columns,
          .warps_rows = warps_rows,
          .warps_lanes = warps_columns,
          .warps_lines = warps_lines,
          .steps = steps};
}

bool WarpsFitRegisters(const WarpTile& tile) {
  const int64_t most = std::min(kMostRegisters, kRegistersOfBlock / tile.Threads());
  return tile.SumsOfThread() + kRegistersBeside <= most;
}

class WarpChoices {
 public:
  WarpChoices(GridSums sums, WarpAxes axes, machine::Machine machine, int64_t most_shared_bytes)
      : sums_(std::move(sums)),
        axes_(std::move(axes)),
        machine_(std::move(machine)),
        most_shared_bytes_(most_shared_bytes) {
    const int64_t lines = axes_.lines ? sums_.extents[*axes_.lines] : 1;
    ForDivisors(kWarpColumns, sums_.extents[axes_.lanes], [&](int64_t columns, int64_t of_lanes) {
      ForDivisors(kWarpRows, sums_.extents[axes_.rows], [&](int64_t rows, int64_t of_rows) {
        ForDivisors(kBlockWarps, of_lanes, [&](int64_t warps_columns, int64_t) {
          ForDivisors(kBlockWarps, of_rows, [&](int64_t warps_rows, int64_t) {
            ForDivisors(kBlockWarps, lines, [&](int64_t warps_lines, int64_t) {
              ForDivisors(kWarpSteps, sums_.steps[axes_.step_loop], [&](int64_t steps, int64_t) {
                Add({columns, rows, warps_columns, warps_rows, warps_lines, steps});
              });
            });
          });
        });
      });
    });
  }

  const GridSums& sums() const { return sums_; }
  const WarpAxes& axes() const { return axes_; }
  // In ascending order.
  const std::vector<WarpChoice>& all() const { return all_; }
  bool HasKnob(size_t knob) const { return knob != kLinesKnob || axes_.lines.has_value(); }

  double CyclesOf(const WarpChoice& choice) const {
    const WarpTile tile = TileOfWarps(choice);
    const WarpTileBytes shared = SharedBytesOf(sums_, axes_, tile);
    int64_t waits = sums_.steps[axes_.step_loop] / tile.steps;
    for (size_t i = 0; i < axes_.step_loop; ++i) waits *= sums_.steps[i];
    int64_t block = 1;
    for (const int64_t extent : tile.BlockExtents(sums_, axes_)) block *= extent;
    return WarpBlockCycles(
        {.blocks = sums_.Results() / block,
         .warps = tile.Threads() / machine::kWarpProduct.threads,
         .rows = tile.rows,
         .lanes = tile.lanes,
         .terms = sums_.Terms(),
         .shared_bytes = shared.AtOnce(),
         .moved_bytes = static_cast<double>(shared.copies * waits + shared.sums),
         .waits = waits,
         .loads = static_cast<double>(shared.loads) / static_cast<double>(tile.Threads())},
        machine_);
  }

 private:
  template <size_t count, typename Visit>
  static void ForDivisors(const int64_t (&factors)[count], int64_t extent, const Visit& visit) {
    for (const int64_t factor : factors) {
      if (extent % factor == 0) visit(factor, extent / factor);
    }
  }

  void Add(const WarpChoice& choice) {
    const WarpTile tile = TileOfWarps(choice);
    const WarpTileBytes shared = SharedBytesOf(sums_, axes_, tile);
    const int64_t warps = tile.Threads() / machine::kWarpProduct.threads;
    const bool fits = warps >= kFewestWarps && warps <= kMostWarps && WarpsFitRegisters(tile) &&
                      shared.AtOnce() <= most_shared_bytes_;
    if (fits) all_.push_back(choice);
  }

  const GridSums sums_;
  const WarpAxes axes_;
  const machine::Machine machine_;
  const int64_t most_shared_bytes_;  // of a block
  std::vector<WarpChoice> all_;
};

class WarpTilePlan final : public Plan {
 public:
  // There is at least one choice.
  WarpTilePlan(Sequence start, std::set<std::string> stages,
               std::unique_ptr<const WarpChoices> choices)
      : start_(std::move(start)), stages_(std::move(stages)), choices_(std::move(choices)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    std::span<const WarpChoice> left = choices_->all();
    for (size_t knob = 0; knob < std::size(kWarpKnobs); ++knob) {
      if (!choices_->HasKnob(knob)) continue;
      const auto value_of = [knob](const WarpChoice& choice) { return choice[knob]; };
      if (!prefix.Has(kWarpKnobs[knob])) {
        std::vector<int64_t> values;
        for (auto at = left.begin(); at != left.end();) {
          values.push_back(value_of(*at));
          at = std::ranges::upper_bound(at, left.end(), values.back(), {}, value_of);
        }
        return IntKnob(kWarpKnobs[knob], values);
      }
      const auto same = std::ranges::equal_range(left, prefix.Int(kWarpKnobs[knob]), {}, value_of);
      left = {same.begin(), same.end()};
    }
    return std::nullopt;
  }

  std::vector<PricedConfig> Ranked() const override {
    constexpr size_t kMostRanked = 64;
    std::vector<std::pair<double, WarpChoice>> priced;
    for (const WarpChoice& choice : choices_->all()) {
      priced.emplace_back(choices_->CyclesOf(choice), choice);
    }
    std::ranges::sort(priced);
    if (priced.size() > kMostRanked) priced.resize(kMostRanked);
    std::vector<PricedConfig> ranked;
    for (const auto& [cycles, choice] : priced) {
      Config config;
      for (size_t knob = 0; knob < choice.size(); ++knob) {
        if (choices_->HasKnob(knob)) config.Set(kWarpKnobs[knob], choice[knob]);
      }
      ranked.push_back({std::move(config), cycles});
    }
    return ranked;
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    WarpChoice choice;
    for (size_t knob = 0; knob < choice.size(); ++knob) {
      choice[knob] = choices_->HasKnob(knob) ? config.Int(kWarpKnobs[knob]) : 1;
    }
    Sequence s = start_;
    TileByWarps(&s, choices_->sums(), choices_->axes(), stages_, TileOfWarps(choice));
    MakeGrids(&s);
    return std::move(s).Finish();
  }

 private:
  const Sequence start_;
  const std::set<std::string> stages_;  // factors that the nest computes
  const std::unique_ptr<const WarpChoices> choices_;
};

// The buffers that other launches fill for a stage.
std::set<std::string> FactorStages(const loop::Nest& nest, const Stage& stage) {
  std::set<std::string> stages;
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(nest, stage.buffer());
  if (!buffer.ok()) return stages;
  const absl::StatusOr<size_t> launch = WriterOf(nest, *buffer);
  if (!launch.ok()) return stages;
  for (const loop::BufferNode* const read : loop::AccessOf(nest.launches[*launch]).read) {
    if (read != buffer->get() && read->role == loop::Role::kWorkspace) stages.insert(read->name);
  }
  return stages;
}

}  // namespace

std::unique_ptr<const Plan> OpenWarpTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem) {
  const Task& task = problem->task;
  const auto cores = machine::TensorCores::Of(task.target);
  if (cores.TakeNothing() || !problem->kernel.sums) return nullptr;
  // Cheap stages that the sums read are computed where other factors are copied.
  const Stage main = problem->kernel.sums->stage;
  std::set<std::string> stages;
  for (const std::string& name : FactorStages(task.def->naive, main)) {
    if (!FindBuffer(problem->kernel.inlined.nest(), name).ok()) stages.insert(name);
  }
  Sequence start(task.def->naive);
  InlineCheapStages(&start, stages);
  std::optional<GridSums> sums = MainSums(start);
  if (!sums || sums->stage != main) return nullptr;
  std::optional<WarpAxes> axes = WarpAxesOf(*sums, start.nest(), cores);
  if (!axes) return nullptr;
  auto choices = std::make_unique<const WarpChoices>(*std::move(sums), *std::move(axes),
                                                     task.machine, cores.shared_bytes);
  if (choices->all().empty()) return nullptr;
  Sequence tried = start;
  TileByWarps(&tried, choices->sums(), choices->axes(), stages,
              TileOfWarps(choices->all().front()));
  if (!tried.ok()) return nullptr;
  return std::make_unique<WarpTilePlan>(std::move(start), std::move(stages), std::move(choices));
}

}  // namespace hone::schedule
