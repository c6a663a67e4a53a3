#include "compiler/schedule/generic/warpgroup_tile.h"

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
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/generic/block_cover.h"
#include "compiler/schedule/generic/copied_sums.h"
#include "compiler/schedule/generic/grid_launches.h"
#include "compiler/schedule/generic/image_product.h"
#include "compiler/schedule/generic/split_sums.h"
#include "compiler/schedule/generic/tile_choices.h"
#include "compiler/schedule/generic/warp_tile_schedule.h"
#include "compiler/schedule/price/gpu_unit.h"
#include "compiler/schedule/price/thread_block.h"
#include "compiler/schedule/price/warpgroup_block.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using machine::kWarpgroupProduct;
using machine::kWarpProduct;

using WarpgroupChoices = TileChoices<3>;
using WarpgroupChoice = WarpgroupChoices::Choice;

constexpr int64_t kGroupColumns[] = {64, 96, 128, 192, 256};
constexpr int64_t kBlockGroups[] = {1, 2, 3};
constexpr int64_t kGroupSlots[] = {1, 2, 3, 4, 5};
// Registers that a thread may have, and those beside its sums.
constexpr int64_t kMostGroupRegisters = 255;
constexpr int64_t kRegistersBesideGroupSums = 64;
// 16 bytes.
constexpr int64_t kTermsCopiedAtOnce = 8;

// The knob: 1, products are waited for one step later, so that tensor cores are busy at barriers.
// Configs without it have 0.
constexpr char kWaitLaterKnob[] = "wait_later";
// One that a product may still read, one that the next one reads, and one for copies.
constexpr int64_t kFewestSlotsToWaitLater = 3;

// What a config chooses beside the tile. A value type.
struct GroupSteps {
  int64_t wait_later = 0;
  int64_t parts = 1;
};

// Each warp has as many rows as its part of the instruction, and all columns.
WarpTile TileOfGroups(const WarpgroupChoice& choice, int64_t wait_later = 0) {
  const auto& [columns, groups, slots] = choice;
  return {.rows = kWarpProduct.rows,
          .lanes = columns,
          .warps_rows = groups * (kWarpgroupProduct.rows / kWarpProduct.rows),
          .steps = kWarpgroupProduct.row_terms,
          .slots = slots,
          .slots_behind = wait_later,
          .term_slack = 0};
}

bool GroupsFitRegisters(const WarpTile& tile) {
  const int64_t most = std::min(kMostGroupRegisters, gpu_unit::kRegisters / tile.Threads());
  return tile.SumsOfThread() + kRegistersBesideGroupSums <= most;
}

// Whether the sums are those of a product of matrices, whose rows of copies are one behind the
// other in both factors. The last copies may have zeros behind the terms.
bool IsProductOfMatrices(const GridSums& sums, const WarpAxes& axes) {
  const auto has_steps = [](int64_t steps) { return steps > 1; };
  const int64_t terms = sums.steps[axes.step_loop];
  return !axes.lines && std::ranges::count_if(sums.steps, has_steps) == 1 &&
         terms % kTermsCopiedAtOnce == 0 &&
         machine::CoversWell(kWarpgroupProduct.row_terms, terms) &&
         std::ranges::all_of(axes.has_terms_last, std::identity());
}

class WarpgroupTilePlan final : public Plan {
 public:
  // `images`: of which the nest has matrices (ImageProduct).
  WarpgroupTilePlan(CopiedSums copied, std::vector<loop::Buffer> images, WarpAxes axes,
                    machine::Machine machine, int64_t most_shared_bytes)
      : copied_(std::move(copied)),
        images_(std::move(images)),
        axes_(std::move(axes)),
        machine_(std::move(machine)),
        added_at_once_(AddedAtOnce(copied_.start, copied_.sums, axes_.step_loop, machine_,
                                   /*has_vectors=*/true)),
        choices_({"tile_columns", "warpgroups", "slots"}, All(most_shared_bytes)) {}

  WarpgroupTilePlan(const WarpgroupTilePlan&) = delete;

  const WarpgroupChoices& choices() const { return choices_; }

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (std::optional<Knob> knob = choices_.NextKnob(prefix)) return knob;
    const WarpgroupChoice choice = choices_.ChoiceOf(prefix);
    if (CanWaitLater(choice) && !prefix.Has(kWaitLaterKnob)) {
      return IntKnob(kWaitLaterKnob, {0, 1}, 0);
    }
    if (prefix.Has(kPartsKnob)) return std::nullopt;
    const std::vector<int64_t> parts = PartsIn(choice);
    return parts.size() > 1 ? std::optional(IntKnob(kPartsKnob, parts, 1)) : std::nullopt;
  }

  std::vector<PricedConfig> Ranked() const override {
    const auto cycles_of = [&](const WarpgroupChoice& choice) { return BestOf(choice).second; };
    std::vector<PricedConfig> ranked;
    for (const auto& [cycles, choice] : choices_.Best(cycles_of)) {
      Config config = choices_.ConfigOf(choice);
      const GroupSteps best = BestOf(choice).first;
      if (CanWaitLater(choice)) config.Set(kWaitLaterKnob, best.wait_later);
      if (PartsIn(choice).size() > 1) config.Set(kPartsKnob, best.parts);
      ranked.push_back({std::move(config), cycles});
    }
    return ranked;
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    GroupSteps steps;
    if (config.Has(kWaitLaterKnob)) steps.wait_later = config.Int(kWaitLaterKnob);
    if (config.Has(kPartsKnob)) steps.parts = config.Int(kPartsKnob);
    return NestOf(choices_.ChoiceOf(config), steps);
  }

  absl::StatusOr<loop::Nest> NestOf(const WarpgroupChoice& choice, const GroupSteps& steps) const {
    Sequence s = copied_.start;
    const WarpTile tile = TileOfGroups(choice, steps.wait_later);
    if (steps.parts == 1) {
      TileByWarps(&s, copied_.sums, axes_, copied_.stages, tile);
    } else {
      const GridSums of_parts =
          SplitSums(&s, copied_.sums, axes_.step_loop, steps.parts, ResultsAdded());
      TileByWarps(&s, of_parts, axes_.OfParts(), copied_.stages, tile);
    }
    MakeGrids(&s);
    HONE_ASSIGN_OR_RETURN(const loop::Nest nest, std::move(s).Finish());
    return WithImages(nest, images_);
  }

 private:
  // The results of a thread that adds up parts.
  int64_t ResultsAdded() const { return added_at_once_.value_or(1); }

  int64_t Copies() const {
    return CeilDiv(copied_.sums.steps[axes_.step_loop], kWarpgroupProduct.row_terms);
  }

  std::vector<WarpgroupChoice> All(int64_t most_shared_bytes) const {
    std::vector<WarpgroupChoice> all;
    for (const int64_t columns : kGroupColumns) {
      for (const int64_t groups : kBlockGroups) {
        for (const int64_t slots : kGroupSlots) {
          const WarpgroupChoice choice = {columns, groups, slots};
          const WarpTile tile = TileOfGroups(choice);
          if (CoversAxis(axes_.lanes, columns, kGroupColumns[0]) &&
              CoversAxis(axes_.rows, groups * kWarpgroupProduct.rows, kWarpgroupProduct.rows) &&
              slots <= Copies() && GroupsFitRegisters(tile) &&
              SharedBytesOf(copied_.sums, axes_, tile).AtOnce() <= most_shared_bytes) {
            all.push_back(choice);
          }
        }
      }
    }
    return all;
  }

  // Whether blocks of such an extent divide the axis, or may reach beyond its end and have no more
  // there than the smallest ones, or little of all blocks.
  bool CoversAxis(size_t axis, int64_t block, int64_t smallest) const {
    const int64_t extent = copied_.sums.extents[axis];
    if (extent % block == 0) return true;
    return axes_.has_tail[axis] && machine::CoversWell(smallest, extent) &&
           (Idle(extent, block) == Idle(extent, smallest) || IsMostlyBusy(extent, block));
  }

  int64_t BlocksOf(const WarpTile& tile) const {
    return BlockCount(copied_.sums.extents, tile.BlockExtents(copied_.sums, axes_));
  }

  // In how many parts blocks of such tiles can sum.
  std::vector<int64_t> PartsIn(const WarpgroupChoice& choice) const {
    if (!added_at_once_) return {1};
    const WarpTile tile = TileOfGroups(choice);
    return PartsOf(copied_.sums,
                   {.blocks = BlocksOf(tile),
                    .step_loop = axes_.step_loop,
                    .steps = tile.steps,
                    .copies = tile.slots},
                   machine_);
  }

  static bool CanWaitLater(const WarpgroupChoice& choice) {
    return TileOfGroups(choice).slots >= kFewestSlotsToWaitLater;
  }

  // The best of what a config chooses beside the tile, and the cycles.
  std::pair<GroupSteps, double> BestOf(const WarpgroupChoice& choice) const {
    std::pair<GroupSteps, double> best = {{}, std::numeric_limits<double>::infinity()};
    for (const int64_t parts : PartsIn(choice)) {
      for (int64_t wait_later = 0; wait_later <= (CanWaitLater(choice) ? 1 : 0); ++wait_later) {
        const GroupSteps steps = {.wait_later = wait_later, .parts = parts};
        const double cycles = CyclesOf(choice, steps);
        if (cycles < best.second) best = {steps, cycles};
      }
    }
    return best;
  }

  double CyclesOf(const WarpgroupChoice& choice, const GroupSteps& steps) const {
    const int64_t parts = steps.parts;
    const WarpTile tile = TileOfGroups(choice);
    const WarpTileBytes shared = SharedBytesOf(copied_.sums, axes_, tile);
    const WarpgroupBlocks work = {
        .blocks = parts * BlocksOf(tile),
        .groups = tile.Threads() / kWarpgroupProduct.threads,
        .lanes = tile.lanes,
        .copies = Copies() / parts,
        .copies_ahead = tile.slots - 1 - steps.wait_later,
        .waits_later = steps.wait_later == 1,
        .loads = static_cast<double>(shared.loads) / static_cast<double>(tile.Threads()),
        .copied_bytes = static_cast<double>(shared.copies),
        .result_bytes = static_cast<double>(shared.sums),
        .shared_bytes = shared.AtOnce()};
    return WarpgroupBlockCycles(work, machine_) +
           AddPartsCycles(copied_.sums.Results(), ResultsAdded(), parts, machine_);
  }

  const CopiedSums copied_;
  const std::vector<loop::Buffer> images_;
  const WarpAxes axes_;
  const machine::Machine machine_;
  const std::optional<int64_t> added_at_once_;  // nullopt: sums cannot be split
  const WarpgroupChoices choices_;
};

}  // namespace

std::unique_ptr<const Plan> OpenWarpgroupTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem) {
  const Task& task = problem->task;
  const auto cores = machine::TensorCores::Of(task.target);
  std::optional<CopiedSums> copied = cores.has_warpgroups ? ViewCopiedSums(*problem) : std::nullopt;
  if (!copied || !CopiesFromGlobal(*copied)) return nullptr;
  std::vector<loop::Buffer> images;
  if (std::optional<ImageProduct> product = ViewImageProduct(*copied)) {
    copied = std::move(product->sums);
    images = std::move(product->images);
  }
  std::optional<WarpAxes> axes = WarpAxesOf(copied->sums, copied->start.nest(), cores);
  if (!axes || !IsProductOfMatrices(copied->sums, *axes)) return nullptr;
  auto plan = std::make_unique<const WarpgroupTilePlan>(
      *std::move(copied), std::move(images), *std::move(axes), task.machine, cores.shared_bytes);
  if (plan->choices().all().empty() || !plan->NestOf(plan->choices().all().front(), {}).ok()) {
    return nullptr;
  }
  return plan;
}

}  // namespace hone::schedule
