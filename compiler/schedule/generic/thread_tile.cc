#include "compiler/schedule/generic/thread_tile.h"

#include <utility>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

// The extent of a loop of constant bounds from 0 on; nullopt for others.
std::optional<int64_t> ExtentOf(const loop::Stmt& s) {
  const bool is_constant = s->min->kind == loop::ExprKind::kInt && s->min->int_value == 0 &&
                           s->extent->kind == loop::ExprKind::kInt;
  return is_constant ? std::optional(s->extent->int_value) : std::nullopt;
}

std::vector<std::vector<bool>> FactorsOf(const loop::Expr& term, const loop::Buffer& sums,
                                         const std::vector<loop::Stmt>& axes) {
  std::vector<std::vector<bool>> factors;
  loop::Walk(term, [&](const loop::Expr& e) {
    if (e->kind != loop::ExprKind::kLoad || e->buffer == sums) return;
    factors.emplace_back();
    for (const loop::Stmt& axis : axes) factors.back().push_back(loop::UsesVar(e, axis->var));
  });
  return factors;
}

struct Candidate {
  GridSums sums;
  int64_t terms = 0;  // of all its sums
};

// A stage whose body sets its result and then sums in loops of constant bounds.
std::optional<Candidate> CandidateOf(const loop::Nest& nest, size_t launch,
                                     const loop::Buffer& buffer) {
  const absl::StatusOr<StageNest> stage = MatchStage(nest, launch, buffer);
  if (!stage.ok() || stage->loops.empty()) return std::nullopt;
  Candidate candidate;
  candidate.sums.stage = Stage(buffer->name);
  candidate.terms = 1;
  for (const loop::Stmt& axis : stage->loops) {
    const std::optional<int64_t> extent = ExtentOf(axis);
    if (!extent) return std::nullopt;
    candidate.sums.extents.push_back(*extent);
    candidate.terms *= *extent;
  }
  if (stage->body->kind != loop::StmtKind::kSeq || stage->body->body.size() != 2) {
    return std::nullopt;
  }
  loop::Stmt s = stage->body->body[1];
  for (; s->kind == loop::StmtKind::kFor; ++candidate.sums.steps) {
    const std::optional<int64_t> extent = ExtentOf(s);
    if (!extent) return std::nullopt;
    candidate.terms *= *extent;
    const loop::Stmt inside = s->body[0];
    s = inside;
  }
  const bool is_sum = candidate.sums.steps > 0 && s->kind == loop::StmtKind::kStore;
  if (is_sum) candidate.sums.factors = FactorsOf(s->value, buffer, stage->loops);
  return is_sum ? std::optional(std::move(candidate)) : std::nullopt;
}

// The smallest tile there is, to see whether the primitives take the stage.
std::optional<ThreadTile> SmallestTile(const GridSums& sums) {
  for (size_t axis = sums.extents.size(); axis-- > 0;) {
    if (sums.extents[axis] % 2 != 0) continue;
    return axis + 1 == sums.extents.size() ? ThreadTile{2} : ThreadTile{1, 2, axis};
  }
  return std::nullopt;
}

bool CanBeTiled(const Sequence& s, const GridSums& sums) {
  const std::optional<ThreadTile> tile = SmallestTile(sums);
  if (!tile) return false;
  Sequence tiled = s;
  TileSums(&tiled, sums, *tile);
  return tiled.ok();
}

std::vector<Loop> StepsOf(const Stage& stage, size_t count) {
  std::vector<Loop> steps;
  for (size_t i = 0; i < count; ++i) steps.push_back(stage.Reduction(i));
  return steps;
}

}  // namespace

int64_t GridSums::Results() const {
  int64_t results = 1;
  for (const int64_t extent : extents) results *= extent;
  return results;
}

int64_t ThreadTile::Loads(const GridSums& sums) const {
  int64_t loads = 0;
  for (const std::vector<bool>& depends : sums.factors) {
    loads += (depends.back() ? columns : 1) * (depends[row_axis] ? rows : 1);
  }
  return loads;
}

bool ThreadTile::SharesLoads(const GridSums& sums) const {
  return Loads(sums) < Results() * static_cast<int64_t>(sums.factors.size());
}

std::optional<GridSums> MainSums(const Sequence& s) {
  std::optional<Candidate> main;
  for (const loop::Buffer& buffer : s.nest().buffers) {
    const absl::StatusOr<size_t> launch = WriterOf(s.nest(), buffer);
    if (!launch.ok() || s.nest().launches[*launch].phase != loop::Phase::kRun) continue;
    std::optional<Candidate> candidate = CandidateOf(s.nest(), *launch, buffer);
    if (!candidate || (main && main->terms >= candidate->terms)) continue;
    if (CanBeTiled(s, candidate->sums)) main = std::move(candidate);
  }
  return main ? std::optional(std::move(main->sums)) : std::nullopt;
}

void TileSums(Sequence* s, const GridSums& sums, const ThreadTile& tile) {
  const size_t rank = sums.extents.size();
  const Stage results = sums.stage;
  const Stage registers = s->CacheWrite(results);
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
  // Every term of a tile's sums before the next one, so that a loaded factor serves them all.
  const std::vector<Loop> axes = registers.Axes(rank);
  s->Decompose(s->FirstOf(axes));
  std::vector<Loop> terms = StepsOf(registers, sums.steps);
  terms.insert(terms.end(), axes.begin(), axes.end());
  s->ReorderPresent(terms);
  for (const Stage& part : {registers.Init(), registers}) s->UnrollPresent(part.Axes(rank));
  for (const Loop& loop : inside) s->Unroll(loop);
}

}  // namespace hone::schedule
