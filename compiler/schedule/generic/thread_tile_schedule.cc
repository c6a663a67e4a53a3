#include "compiler/schedule/generic/thread_tile_schedule.h"

#include <vector>

namespace hone::schedule {
namespace {

// Terms of all sums of a thread whose loops are unrolled. Windows that overlap then load once what
// several of their terms need, and loads do not wait for each other.
constexpr int64_t kUnrolledTermsOfThread = 72;

// The smallest tile of several results, to see whether the primitives take the stage; of one result
// where there is none.
ThreadTile SmallestTile(const GridSums& sums) {
  for (size_t axis = sums.extents.size(); axis-- > 0;) {
    if (sums.extents[axis] % 2 != 0) continue;
    return axis + 1 == sums.extents.size() ? ThreadTile{2} : ThreadTile{1, 2, axis};
  }
  return {};
}

std::vector<Loop> StepsOf(const Stage& stage, size_t count) {
  std::vector<Loop> steps;
  for (size_t i = 0; i < count; ++i) steps.push_back(stage.Reduction(i));
  return steps;
}

}  // namespace

int64_t ThreadTile::Loads(const GridSums& sums) const {
  int64_t loads = 0;
  for (const std::vector<bool>& depends : sums.loads) {
    loads += (depends.back() ? columns : 1) * (depends[row_axis] ? rows : 1);
  }
  return loads;
}

bool ThreadTile::SharesLoads(const GridSums& sums) const {
  return Loads(sums) < Results() * static_cast<int64_t>(sums.loads.size());
}

bool CanTileSums(const Sequence& s, const GridSums& sums) {
  Sequence tiled = s;
  TileSums(&tiled, sums, SmallestTile(sums));
  return tiled.ok();
}

void TileSums(Sequence* s, const GridSums& sums, const ThreadTile& tile) {
  const size_t rank = sums.extents.size();
  const auto [results, registers] = TakeResults(s, sums);
  // The results' loops: those of the grid, then those of the tile.
  std::vector<Loop> order = results.Axes(rank);
  std::vector<Loop> inside;
  const auto split = [&](size_t axis, int64_t factor) {
    const SplitLoops loops = s->Split(results.Axis(axis), factor, Tail::kExact);
    order[axis] = loops.outer;
    inside.push_back(loops.inner);
  };
  if (tile.rows > 1) split(tile.row_axis, tile.rows);
  if (tile.columns > 1) split(rank - 1, tile.columns);
  const Loop last_of_grid = order.back();
  order.insert(order.end(), inside.begin(), inside.end());
  s->Reorder(order);
  s->ComputeAt(registers, last_of_grid);
  std::vector<Loop> terms = StepsOf(registers, sums.steps.size());
  if (sums.Terms() * tile.Results() <= kUnrolledTermsOfThread) s->UnrollPresent(terms);
  if (tile.Results() == 1) return;  // the sum has no loop over results
  // Every term of a tile's sums before the next one, so that a loaded factor serves them all.
  const std::vector<Loop> axes = registers.Axes(rank);
  s->Decompose(s->FirstOf(axes));
  terms.insert(terms.end(), axes.begin(), axes.end());
  s->ReorderPresent(terms);
  for (const Stage& part : {registers.Init(), registers}) s->UnrollPresent(part.Axes(rank));
  for (const Loop& loop : inside) s->Unroll(loop);
}

}  // namespace hone::schedule
