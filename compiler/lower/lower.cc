#include "compiler/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/lower/barriers.h"
#include "compiler/lower/dependents.h"
#include "compiler/lower/dots.h"
#include "compiler/lower/grain.h"
#include "compiler/lower/grid.h"
#include "compiler/lower/lanes.h"
#include "compiler/lower/threads.h"
#include "compiler/lower/transpositions.h"
#include "compiler/lower/unrolling.h"
#include "compiler/lower/warpgroups.h"
#include "compiler/lower/warps.h"
#include "compiler/machine/background_copies.h"
#include "compiler/machine/early_starts.h"
#include "compiler/machine/machine.h"
#include "compiler/machine/tensor_cores.h"
#include "support/status.h"

namespace hone::lower {
namespace {

absl::Status CheckLaunches(const loop::Nest& nest) {
  if (nest.launches.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("kernel {}: a nest needs at least one launch", nest.name));
  }
  for (const loop::Launch& launch : nest.launches) {
    if (!launch.body) {
      return absl::InvalidArgumentError(
          fmt::format("kernel {}: launch {} has no body", nest.name, launch.name));
    }
  }
  return absl::OkStatus();
}

std::vector<loop::Launch> InExecutionOrder(std::vector<loop::Launch> launches) {
  std::ranges::stable_partition(
      launches, [](const loop::Launch& launch) { return launch.phase == loop::Phase::kPrepare; });
  return launches;
}

loop::Bounds BoundsAround(const LoweredLaunch& launch) {
  loop::Bounds bounds;
  for (const GridLoop& loop : launch.grid) {
    bounds.Push(loop.var, {loop.min, loop.min + loop.extent - 1});
  }
  if (launch.thread) bounds.Push(launch.thread->var, {0, launch.thread->extent - 1});
  return bounds;
}

// What the threads of a block do, and its warps where the target has tensor cores for them.
absl::Status LowerBlock(const Target& target, LoweredLaunch* launch) {
  const bool has_warps =
      !machine::TensorCores::Of(target).TakeNothing() && HasTilesInThreads(launch->body);
  if (has_warps) HONE_RETURN_IF_ERROR(CheckWarpLoops(launch->body));
  HONE_ASSIGN_OR_RETURN(
      std::optional<ThreadProgram> program,
      LowerThreads(launch->body, {.has_warps = has_warps,
                                  .copies_in_background = machine::CopiesInBackground(target)}));
  if (program) {
    launch->body = std::move(program->body);
    launch->thread = std::move(program->thread);
    launch->copied = std::move(program->copied);
  }
  if (!has_warps) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(launch->warps, PlanWarps(launch->body, BoundsAround(*launch)));
  if (machine::TensorCores::Of(target).has_warpgroups && launch->thread) {
    launch->warpgroups = PlanWarpgroups(launch->body, launch->warps, launch->thread->var,
                                        launch->thread->extent, BoundsAround(*launch));
  }
  return absl::OkStatus();
}

// Prepare launches run once, and what has no thread at work waits for nothing.
void PlanEarlyStart(LoweredLaunch* launch) {
  launch->waits = launch->phase == loop::Phase::kRun && launch->GridIndices() > 0;
  if (launch->waits) launch->end_of_sums = FindEndOfSums(launch->body);
}

}  // namespace

absl::StatusOr<std::vector<LoweredLaunch>> LowerLaunches(const loop::Nest& nest,
                                                         const Target& target) {
  HONE_RETURN_IF_ERROR(CheckLaunches(nest));
  const machine::Machine machine = machine::Machine::For(target);
  std::vector<loop::Launch> launches = InExecutionOrder(nest.launches);
  const std::vector<bool> below_grain = AreBelowGrain(launches, machine);
  const std::vector<bool> barriers = BarriersBefore(launches);
  std::vector<LoweredLaunch> lowered;
  for (size_t i = 0; i < launches.size(); ++i) {
    LoweredLaunch launch;
    launch.name = launches[i].name;
    launch.phase = launches[i].phase;
    launch.body = LimitUnrolling(SerialiseLanesApart(launches[i].body));
    launch.tiles = PlanTiles(launch.body, machine.matrix);
    launch.grid = TakeGrid(&launch.body);
    if (machine.HasGrid()) HONE_RETURN_IF_ERROR(LowerBlock(target, &launch));
    launch.dots = PlanDots(launch.body, BoundsAround(launch), [&](const loop::Stmt& s) {
      return launch.tiles.operations.contains(s.get()) || launch.warps.operations.contains(s.get());
    });
    launch.transpositions =
        PlanTranspositions(launch.body, BoundsAround(launch), machine.vector.size_bytes);
    if (machine::StartsEarly(target)) PlanEarlyStart(&launch);
    launch.serial = below_grain[i];
    launch.barrier_before = barriers[i];
    lowered.push_back(std::move(launch));
  }
  return lowered;
}

}  // namespace hone::lower
