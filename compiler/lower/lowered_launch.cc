#include "compiler/lower/lowered_launch.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::lower {

int64_t LoweredLaunch::GridIndices() const {
  int64_t indices = 1;
  for (const GridLoop& loop : grid) indices *= std::max<int64_t>(loop.extent, 0);
  return indices;
}

std::string ToText(const LoweredLaunch& launch) {
  std::string text = fmt::format(
      "{} launch {}", launch.phase == loop::Phase::kRun ? "run" : "prepare", launch.name);
  for (const GridLoop& loop : launch.grid) {
    text += fmt::format(" {} in {}..{}", loop.var->name, loop.min, loop.min + loop.extent);
  }
  if (launch.thread) {
    text += fmt::format(", {} in {}..{}", launch.thread->var->name, launch.thread->min,
                        launch.thread->min + launch.thread->extent);
  }
  if (launch.serial) text += ", serial";
  if (launch.barrier_before) text += ", barrier before";
  if (!launch.copied.empty()) text += ", copies in the background";
  if (!launch.tiles.regions.empty()) text += ", in tile registers";
  if (!launch.warps.operations.empty()) text += ", tiles by warps";
  return text + "\n" + loop::ToText(launch.body, /*indent=*/1);
}

}  // namespace hone::lower
