#include "compiler/lower/lowered_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "compiler/loop/visit.h"
#include "compiler/lower/dependents.h"

namespace hone::lower {

int64_t LoweredLaunch::GridIndices() const {
  int64_t indices = 1;
  for (const GridLoop& loop : grid) indices *= std::max<int64_t>(loop.extent, 0);
  return indices;
}

namespace {

// The variables of the loops that `is_one` picks, in the order of the loops; "" if there is none.
std::string LoopsWhere(const loop::Stmt& body,
                       const std::function<bool(const loop::Stmt&)>& is_one) {
  std::string names;
  for (const loop::Stmt& loop : loop::CollectLoops(body)) {
    if (is_one(loop)) names += " " + loop->var->name;
  }
  return names;
}

std::string VectorsText(const LoweredLaunch& launch) {
  const auto transposes = [&](bool stores) {
    return LoopsWhere(launch.body, [&](const loop::Stmt& loop) {
      const auto found = launch.transpositions.find(loop.get());
      return found != launch.transpositions.end() && found->second.store.has_value() == stores;
    });
  };
  const std::string dots = LoopsWhere(
      launch.body, [&](const loop::Stmt& loop) { return launch.dots.contains(loop.get()); });
  std::string text;
  if (!dots.empty()) text += ", dot products" + dots;
  if (const std::string loops = transposes(true); !loops.empty()) {
    text += ", transposes the store of" + loops;
  }
  if (const std::string loops = transposes(false); !loops.empty()) {
    text += ", transposes loads of" + loops;
  }
  return text;
}

std::string WarpgroupsText(const LoweredLaunch& launch) {
  if (launch.warpgroups.products.empty()) return "";
  std::string text = ", products by warpgroups" + LoopsWhere(launch.body, [&](const loop::Stmt& s) {
                       return launch.warpgroups.products.contains(s.get());
                     });
  std::set<std::string> names;
  for (const loop::BufferNode* const buffer : launch.warpgroups.swizzled) {
    names.insert(buffer->name);
  }
  text += ", swizzled";
  for (const std::string& name : names) text += " %" + name;
  return text;
}

std::string EarlyStartText(const LoweredLaunch& launch) {
  if (!launch.waits) return "";
  std::string text = ", waits";
  loop::Stmt sums;
  loop::Walk(launch.body, [&](const loop::Stmt& s) {
    if (s.get() == launch.end_of_sums) sums = FirstLoopOfSums(s);
    return true;
  });
  return sums ? text + ", dependents start behind " + sums->var->name : text;
}

}  // namespace

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
  text += VectorsText(launch);
  if (!launch.tiles.regions.empty()) text += ", in tile registers";
  if (!launch.warps.operations.empty()) text += ", tiles by warps";
  text += WarpgroupsText(launch);
  text += EarlyStartText(launch);
  return text + "\n" + loop::ToText(launch.body, /*indent=*/1);
}

}  // namespace hone::lower
