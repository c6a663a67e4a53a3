#include "compiler/schedule/generic/warp_tile.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/machine/background_copies.h"
#include "compiler/machine/tensor_cores.h"
#include "compiler/schedule/generic/block_cover.h"
#include "compiler/schedule/generic/copied_sums.h"
#include "compiler/schedule/generic/grid_launches.h"
#include "compiler/schedule/generic/split_sums.h"
#include "compiler/schedule/generic/tile_choices.h"
#include "compiler/schedule/generic/warp_tile_schedule.h"
#include "compiler/schedule/price/gpu_unit.h"
#include "compiler/schedule/price/thread_block.h"
#include "compiler/schedule/price/warp_block.h"

namespace hone::schedule {
namespace {

using WarpChoices = TileChoices<7>;
using WarpChoice = WarpChoices::Choice;

constexpr int64_t kWarpColumns[] = {8, 16, 24, 32, 64};
constexpr int64_t kWarpRows[] = {16, 32, 48, 64};
// Sizes of networks and numbers of units have factors of three, images of seven.
constexpr int64_t kBlockWarps[] = {1, 2, 3, 4, 7, 8};
constexpr int64_t kRowBytes[] = {32, 64, 128};  // of the terms that are copied at once
constexpr int64_t kSlots[] = {1, 2, 3, 4};
// One warp alone has nobody to share copies with; a block of more waits for many at each barrier.
constexpr int64_t kFewestWarps = 2;
constexpr int64_t kMostWarps = 16;
// Blocks of fewer results along an axis share too little of what they copy.
constexpr int64_t kSmallBlock = 64;
// Registers that a thread may have, and those beside its sums.
constexpr int64_t kMostRegisters = 255;
constexpr int64_t kRegistersBeside = 64;

WarpTile TileOfWarps(const WarpChoice& choice, const WarpAxes& axes) {
  const auto& [columns, rows, warps_columns, warps_rows, warps_lines, steps, slots] = choice;
  return {.rows = rows,
          .lanes = columns,
          .warps_rows = warps_rows,
          .warps_lanes = warps_columns,
          .warps_lines = warps_lines,
          .steps = steps,
          .slots = slots,
          .term_slack = axes.TermsAtOnce()};
}

bool WarpsFitRegisters(const WarpTile& tile, const WarpAxes& axes) {
  const int64_t most = std::min(kMostRegisters, gpu_unit::kRegisters / tile.Threads());
  // Both parts of the split terms of all lanes.
  const int64_t parts = axes.IsFloat32() ? tile.lanes : 0;
  return tile.SumsOfThread() + parts + kRegistersBeside <= most;
}

// Tiles of one kernel.
class WarpTiles {
 public:
  // `has_slots`: copies may be in the background. `added_at_once`: of split sums (AddedAtOnce).
  WarpTiles(GridSums sums, WarpAxes axes, machine::Machine machine, int64_t most_shared_bytes,
            bool has_slots, std::optional<int64_t> added_at_once)
      : sums_(std::move(sums)),
        axes_(std::move(axes)),
        machine_(std::move(machine)),
        most_shared_bytes_(most_shared_bytes),
        added_at_once_(added_at_once) {
    const int64_t lines = axes_.lines ? sums_.extents[*axes_.lines] : 1;
    ForTiles(kWarpColumns, axes_.lanes, [&](int64_t columns, int64_t warps_columns) {
      ForTiles(kWarpRows, axes_.rows, [&](int64_t rows, int64_t warps_rows) {
        ForDivisors(kBlockWarps, lines, [&](int64_t warps_lines) {
          ForDivisors(RowTerms(), sums_.steps[axes_.step_loop], [&](int64_t steps) {
            for (const int64_t slots : kSlots) {
              const bool fits = slots == 1 || (has_slots && slots <= Copies(steps));
              if (fits) Add({columns, rows, warps_columns, warps_rows, warps_lines, steps, slots});
            }
          });
        });
      });
    });
    choices_.emplace(WarpChoices::Knobs{"tile_columns", "tile_rows", "warps_columns", "warps_rows",
                                        axes_.lines ? "warps_lines" : nullptr, "steps",
                                        has_slots ? "slots" : nullptr},
                     std::move(all_));
  }

  WarpTiles(const WarpTiles&) = delete;

  // The results of a thread that adds up parts.
  int64_t ResultsAdded() const { return added_at_once_.value_or(1); }

  const GridSums& sums() const { return sums_; }
  const WarpAxes& axes() const { return axes_; }
  const WarpChoices& choices() const { return *choices_; }

  WarpTile TileOf(const WarpChoice& choice) const { return TileOfWarps(choice, axes_); }

  // In how many parts blocks of such tiles can sum.
  std::vector<int64_t> PartsIn(const WarpChoice& choice) const {
    if (!added_at_once_) return {1};
    const WarpTile tile = TileOf(choice);
    return PartsOf(sums_,
                   {.blocks = BlockCount(sums_.extents, tile.BlockExtents(sums_, axes_)),
                    .step_loop = axes_.step_loop,
                    .steps = tile.steps,
                    .copies = tile.slots},
                   machine_);
  }

  // The best number of parts, and the cycles.
  std::pair<int64_t, double> BestOf(const WarpChoice& choice) const {
    std::pair<int64_t, double> best = {1, std::numeric_limits<double>::infinity()};
    for (const int64_t parts : PartsIn(choice)) {
      const double cycles = CyclesOf(choice, parts);
      if (cycles < best.second) best = {parts, cycles};
    }
    return best;
  }

 private:
  double CyclesOf(const WarpChoice& choice, int64_t parts) const {
    const WarpTile tile = TileOf(choice);
    const WarpBlocks work = WorkOf(sums_, axes_, tile, Copies(tile.steps), parts);
    return WarpBlockCycles(work, machine_) +
           AddPartsCycles(sums_.Results(), ResultsAdded(), parts, machine_);
  }

  // How often a block copies so many steps.
  int64_t Copies(int64_t steps) const {
    int64_t copies = sums_.steps[axes_.step_loop] / steps;
    for (size_t i = 0; i < axes_.step_loop; ++i) copies *= sums_.steps[i];
    return copies;
  }

  std::vector<int64_t> RowTerms() const {
    std::vector<int64_t> terms;
    for (const int64_t bytes : kRowBytes) terms.push_back(bytes / axes_.element_bytes);
    return terms;
  }

  template <typename Factors, typename Visit>
  static void ForDivisors(const Factors& factors, int64_t extent, const Visit& visit) {
    for (const int64_t factor : factors) {
      if (extent % factor == 0) visit(factor);
    }
  }

  // Visits the sizes of a warp's tile along an axis, and how many warps a block has there.
  template <size_t count, typename Visit>
  void ForTiles(const int64_t (&sizes)[count], size_t axis, const Visit& visit) const {
    const bool needs_tail = NeedsTail(sizes, axis);
    for (const int64_t size : sizes) {
      for (const int64_t warps : kBlockWarps) {
        const int64_t extent = sums_.extents[axis];
        const bool divides = extent % (size * warps) == 0;
        if (divides || (needs_tail && Covers(size * warps, extent, sizes[0]))) visit(size, warps);
      }
    }
  }

  // Whether all blocks that divide the axis are small, and one may reach beyond its end.
  template <size_t count>
  bool NeedsTail(const int64_t (&sizes)[count], size_t axis) const {
    const int64_t extent = sums_.extents[axis];
    for (const int64_t size : sizes) {
      for (const int64_t warps : kBlockWarps) {
        const int64_t block = size * warps;
        if (extent % block == 0 && block >= std::min(extent, kSmallBlock)) return false;
      }
    }
    return axes_.has_tail[axis] && machine::CoversWell(sizes[0], extent);
  }

  // Whether no more of the last block is idle than with the smallest tiles, or little of all
  // blocks.
  static bool Covers(int64_t block, int64_t extent, int64_t smallest) {
    return Idle(extent, block) == Idle(extent, smallest) || IsMostlyBusy(extent, block);
  }

  void Add(const WarpChoice& choice) {
    const WarpTile tile = TileOf(choice);
    const WarpTileBytes shared = SharedBytesOf(sums_, axes_, tile);
    const int64_t warps = tile.Threads() / machine::kWarpProduct.threads;
    const bool fits = warps >= kFewestWarps && warps <= kMostWarps &&
                      WarpsFitRegisters(tile, axes_) && shared.AtOnce() <= most_shared_bytes_;
    if (fits) all_.push_back(choice);
  }

  const GridSums sums_;
  const WarpAxes axes_;
  const machine::Machine machine_;
  const int64_t most_shared_bytes_;             // of a block
  const std::optional<int64_t> added_at_once_;  // nullopt: sums cannot be split
  std::vector<WarpChoice> all_;                 // while they are found
  std::optional<WarpChoices> choices_;
};

class WarpTilePlan final : public Plan {
 public:
  // There is at least one choice.
  WarpTilePlan(Sequence start, std::set<std::string> stages, std::unique_ptr<const WarpTiles> tiles)
      : start_(std::move(start)), stages_(std::move(stages)), tiles_(std::move(tiles)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (std::optional<Knob> knob = tiles_->choices().NextKnob(prefix)) return knob;
    if (prefix.Has(kPartsKnob)) return std::nullopt;
    const std::vector<int64_t> parts = tiles_->PartsIn(tiles_->choices().ChoiceOf(prefix));
    return parts.size() > 1 ? std::optional(IntKnob(kPartsKnob, parts, 1)) : std::nullopt;
  }

  std::vector<PricedConfig> Ranked() const override {
    const auto cycles_of = [&](const WarpChoice& choice) { return tiles_->BestOf(choice).second; };
    std::vector<PricedConfig> ranked;
    for (const auto& [cycles, choice] : tiles_->choices().Best(cycles_of)) {
      Config config = tiles_->choices().ConfigOf(choice);
      if (tiles_->PartsIn(choice).size() > 1) config.Set(kPartsKnob, tiles_->BestOf(choice).first);
      ranked.push_back({std::move(config), cycles});
    }
    return ranked;
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    const WarpTile tile = tiles_->TileOf(tiles_->choices().ChoiceOf(config));
    Sequence s = start_;
    const int64_t parts = config.Has(kPartsKnob) ? config.Int(kPartsKnob) : 1;
    if (parts == 1) {
      TileByWarps(&s, tiles_->sums(), tiles_->axes(), stages_, tile);
    } else {
      const WarpAxes& axes = tiles_->axes();
      const GridSums of_parts =
          SplitSums(&s, tiles_->sums(), axes.step_loop, parts, tiles_->ResultsAdded());
      TileByWarps(&s, of_parts, axes.OfParts(), stages_, tile);
    }
    MakeGrids(&s);
    return std::move(s).Finish();
  }

 private:
  const Sequence start_;
  const std::set<std::string> stages_;  // factors that the nest computes
  const std::unique_ptr<const WarpTiles> tiles_;
};

}  // namespace

std::unique_ptr<const Plan> OpenWarpTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem) {
  const Task& task = problem->task;
  const auto cores = machine::TensorCores::Of(task.target);
  std::optional<CopiedSums> copied = cores.TakeNothing() ? std::nullopt : ViewCopiedSums(*problem);
  if (!copied) return nullptr;
  // An infinity would have no number as its rest.
  const bool splits_float32 = cores.has_fast_tf32 && task.def->numerics != ops::Numerics::kStrict;
  std::optional<WarpAxes> axes =
      WarpAxesOf(copied->sums, copied->start.nest(), cores, splits_float32);
  if (!axes) return nullptr;
  // Elements of four bytes are copied in the background alone, others several at once.
  const bool has_slots =
      machine::CopiesInBackground(task.target) && CopiesFromGlobal(*copied) &&
      (axes->IsFloat32() || std::ranges::all_of(axes->has_terms_last, std::identity()));
  const std::optional<int64_t> added_at_once =
      AddedAtOnce(copied->start, copied->sums, axes->step_loop, task.machine, /*has_vectors=*/true);
  auto tiles =
      std::make_unique<const WarpTiles>(std::move(copied->sums), *std::move(axes), task.machine,
                                        cores.shared_bytes, has_slots, added_at_once);
  if (tiles->choices().all().empty()) return nullptr;
  Sequence tried = copied->start;
  TileByWarps(&tried, tiles->sums(), tiles->axes(), copied->stages,
              tiles->TileOf(tiles->choices().all().front()));
  if (!tried.ok()) return nullptr;
  return std::make_unique<WarpTilePlan>(std::move(copied->start), std::move(copied->stages),
                                        std::move(tiles));
}

}  // namespace hone::schedule
