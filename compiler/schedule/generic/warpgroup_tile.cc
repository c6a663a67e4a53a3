#include "compiler/schedule/generic/warpgroup_tile.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/machine/background_copies.h"
#include "compiler/machine/tensor_cores.h"
#include "compiler/schedule/generic/copied_sums.h"
#include "compiler/schedule/generic/grid_launches.h"
#include "compiler/schedule/generic/tile_choices.h"
#include "compiler/schedule/generic/warp_tile_schedule.h"
#include "compiler/schedule/price/gpu_unit.h"
#include "compiler/schedule/price/warp_block.h"

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

// Each warp has as many rows as its part of the instruction, and all columns.
WarpTile TileOfGroups(const WarpgroupChoice& choice) {
  const auto& [columns, groups, slots] = choice;
  return {.rows = kWarpProduct.rows,
          .lanes = columns,
          .warps_rows = groups * (kWarpgroupProduct.rows / kWarpProduct.rows),
          .steps = kWarpgroupProduct.row_terms,
          .slots = slots,
          .term_slack = 0};
}

bool GroupsFitRegisters(const WarpTile& tile) {
  const int64_t most = std::min(kMostGroupRegisters, gpu_unit::kRegisters / tile.Threads());
  return tile.SumsOfThread() + kRegistersBesideGroupSums <= most;
}

// Whether the sums are those of a product of matrices, whose rows of copies are one behind the
// other in both factors.
bool IsProductOfMatrices(const GridSums& sums, const WarpAxes& axes) {
  const auto has_steps = [](int64_t steps) { return steps > 1; };
  return !axes.lines && std::ranges::count_if(sums.steps, has_steps) == 1 &&
         sums.steps[axes.step_loop] % kWarpgroupProduct.row_terms == 0 &&
         std::ranges::all_of(axes.has_terms_last, std::identity());
}

class WarpgroupTilePlan final : public Plan {
 public:
  WarpgroupTilePlan(CopiedSums copied, WarpAxes axes, machine::Machine machine,
                    int64_t most_shared_bytes)
      : copied_(std::move(copied)),
        axes_(std::move(axes)),
        machine_(std::move(machine)),
        choices_({"tile_columns", "warpgroups", "slots"}, All(most_shared_bytes)) {}

  WarpgroupTilePlan(const WarpgroupTilePlan&) = delete;

  const WarpgroupChoices& choices() const { return choices_; }

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return choices_.NextKnob(prefix);
  }

  std::vector<PricedConfig> Ranked() const override {
    const auto cycles_of = [&](const WarpgroupChoice& choice) { return CyclesOf(choice); };
    std::vector<PricedConfig> ranked;
    for (const auto& [cycles, choice] : choices_.Best(cycles_of)) {
      ranked.push_back({choices_.ConfigOf(choice), cycles});
    }
    return ranked;
  }

  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return NestOf(choices_.ChoiceOf(config));
  }

  absl::StatusOr<loop::Nest> NestOf(const WarpgroupChoice& choice) const {
    Sequence s = copied_.start;
    TileByWarps(&s, copied_.sums, axes_, copied_.stages, TileOfGroups(choice));
    MakeGrids(&s);
    return std::move(s).Finish();
  }

 private:
  int64_t Copies() const {
    return copied_.sums.steps[axes_.step_loop] / kWarpgroupProduct.row_terms;
  }

  std::vector<WarpgroupChoice> All(int64_t most_shared_bytes) const {
    std::vector<WarpgroupChoice> all;
    for (const int64_t columns : kGroupColumns) {
      for (const int64_t groups : kBlockGroups) {
        for (const int64_t slots : kGroupSlots) {
          const WarpgroupChoice choice = {columns, groups, slots};
          const WarpTile tile = TileOfGroups(choice);
          const bool divides =
              copied_.sums.extents[axes_.lanes] % columns == 0 &&
              copied_.sums.extents[axes_.rows] % (groups * kWarpgroupProduct.rows) == 0;
          if (divides && slots <= Copies() && GroupsFitRegisters(tile) &&
              SharedBytesOf(copied_.sums, axes_, tile).AtOnce() <= most_shared_bytes) {
            all.push_back(choice);
          }
        }
      }
    }
    return all;
  }

  // The price is that of single warps, each of which loads its factors. A group loads those of all
  // its warps once and multiplies faster, so this compares tiles of groups with each other alone.
  double CyclesOf(const WarpgroupChoice& choice) const {
    return WarpBlockCycles(WorkOf(copied_.sums, axes_, TileOfGroups(choice), Copies()), machine_);
  }

  const CopiedSums copied_;
  const WarpAxes axes_;
  const machine::Machine machine_;
  const WarpgroupChoices choices_;
};

}  // namespace

std::unique_ptr<const Plan> OpenWarpgroupTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem) {
  const Task& task = problem->task;
  const auto cores = machine::TensorCores::Of(task.target);
  std::optional<CopiedSums> copied = cores.has_warpgroups ? ViewCopiedSums(*problem) : std::nullopt;
  if (!copied || !CopiesFromGlobal(*copied)) return nullptr;
  std::optional<WarpAxes> axes = WarpAxesOf(copied->sums, copied->start.nest(), cores);
  if (!axes || !IsProductOfMatrices(copied->sums, *axes)) return nullptr;
  auto plan = std::make_unique<const WarpgroupTilePlan>(*std::move(copied), *std::move(axes),
                                                        task.machine, cores.shared_bytes);
  if (plan->choices().all().empty() || !plan->NestOf(plan->choices().all().front()).ok()) {
    return nullptr;
  }
  return plan;
}

}  // namespace hone::schedule
