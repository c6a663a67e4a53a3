#include "compiler/schedule/generic/grid_sums.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

#include "compiler/loop/linear.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

using loop::Expr;
using loop::Stmt;

int64_t ProductOf(const std::vector<int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

// The extent of a loop of constant bounds from 0 on; nullopt for others.
std::optional<int64_t> ExtentOf(const Stmt& s) {
  int64_t extent = 0;
  const bool is_constant = loop::IsInt(s->min, 0) && loop::IsConstInt(s->extent, &extent);
  return is_constant ? std::optional(extent) : std::nullopt;
}

std::vector<Expr> LoadsOf(const Expr& term, const loop::Buffer& sums) {
  std::vector<Expr> loads;
  loop::Walk(term, [&](const Expr& e) {
    if (e->kind == loop::ExprKind::kLoad && e->buffer != sums) loads.push_back(e);
  });
  return loads;
}

std::vector<int64_t> CoefficientsOf(const loop::Linear& index, const std::vector<Stmt>& loops) {
  std::vector<int64_t> coefficients;
  for (const Stmt& loop : loops) coefficients.push_back(index.CoefficientOf(loop->var));
  return coefficients;
}

bool IsLinear(const loop::Linear& index) {
  return std::ranges::all_of(index.terms(), [](const loop::Linear::Term& term) {
    return term.atom->kind == loop::ExprKind::kVar;
  });
}

std::optional<std::vector<GridFactor>> FactorsOf(const std::vector<Expr>& loads,
                                                 const std::vector<Stmt>& axes,
                                                 const std::vector<Stmt>& steps) {
  std::vector<GridFactor> factors;
  std::vector<Expr> known;  // the load of each factor
  for (const Expr& load : loads) {
    const auto same = std::ranges::find_if(
        known, [&](const Expr& other) { return other->buffer == load->buffer; });
    if (same != known.end()) {
      if (!loop::StructuralEqual(*same, load)) return std::nullopt;
      continue;
    }
    GridFactor factor{.buffer = load->buffer->name,
                      .element_bytes = static_cast<int64_t>(SizeBytes(load->buffer->dtype)),
                      .dims = {}};
    for (size_t d = 0; d < load->operands.size(); ++d) {
      const loop::Linear index = loop::Linear::Of(load->operands[d]);
      if (!IsLinear(index)) return std::nullopt;
      factor.dims.push_back({.extent = load->buffer->shape[d],
                             .first = index.constant(),
                             .axes = CoefficientsOf(index, axes),
                             .steps = CoefficientsOf(index, steps)});
    }
    factors.push_back(std::move(factor));
    known.push_back(load);
  }
  return factors;
}

// A stage whose body sets its result and then sums in loops of constant bounds.
std::optional<GridSums> SumsOf(const loop::Nest& nest, size_t launch, const loop::Buffer& buffer) {
  const absl::StatusOr<StageNest> stage = MatchStage(nest, launch, buffer);
  if (!stage.ok() || stage->loops.empty()) return std::nullopt;
  GridSums sums;
  sums.stage = Stage(buffer->name);
  for (const Stmt& axis : stage->loops) {
    const std::optional<int64_t> extent = ExtentOf(axis);
    if (!extent) return std::nullopt;
    sums.extents.push_back(*extent);
  }
  if (stage->body->kind != loop::StmtKind::kSeq || stage->body->body.size() != 2) {
    return std::nullopt;
  }
  std::vector<Stmt> steps;
  Stmt s = stage->body->body[1];
  while (s->kind == loop::StmtKind::kFor) {
    const std::optional<int64_t> extent = ExtentOf(s);
    if (!extent) return std::nullopt;
    sums.steps.push_back(*extent);
    steps.push_back(s);
    const Stmt inside = s->body[0];
    s = inside;
  }
  if (steps.empty() || s->kind != loop::StmtKind::kStore) return std::nullopt;
  const std::vector<Expr> loads = LoadsOf(s->value, buffer);
  for (const Expr& load : loads) {
    sums.loads.emplace_back();
    for (const Stmt& axis : stage->loops) {
      sums.loads.back().push_back(loop::UsesVar(load, axis->var));
    }
  }
  sums.factors = FactorsOf(loads, stage->loops, steps);
  return sums;
}

// Whether the index is the loop's in all of its iterations. What broadcasts an axis of one element
// loads it at 0.
bool IsIndexOf(const Expr& index, const Stmt& loop) {
  int64_t constant = -1;
  return index.SameAs(loop->var) ||
         (ExtentOf(loop) == 1 && loop::IsConstInt(index, &constant) && constant == 0);
}

// Whether a launch's stage loads the buffer at its own indices alone.
bool ReadsInOrder(const StageNest& stage, const loop::Buffer& buffer) {
  bool in_order = stage.body->kind == loop::StmtKind::kStore;
  for (const Expr& load : in_order ? LoadsOf(stage.body->value, nullptr) : std::vector<Expr>()) {
    if (load->buffer != buffer) continue;
    in_order = in_order && load->operands.size() == stage.loops.size();
    for (size_t d = 0; in_order && d < load->operands.size(); ++d) {
      in_order = IsIndexOf(load->operands[d], stage.loops[d]);
    }
  }
  return in_order;
}

// The stage of the one launch that reads the buffer, in order.
std::optional<Stage> ReaderInOrder(const loop::Nest& nest, const loop::Buffer& buffer) {
  std::optional<Stage> reader;
  for (const loop::Launch& launch : nest.launches) {
    const bool is_sums = Stores(launch.body, buffer);
    if (is_sums || !Loads(launch.body, buffer)) continue;
    if (reader) return std::nullopt;
    for (const loop::Buffer& result : nest.buffers) {
      if (!Stores(launch.body, result) || result->shape != buffer->shape) continue;
      const absl::StatusOr<size_t> writer = WriterOf(nest, result);
      if (!writer.ok()) return std::nullopt;
      const absl::StatusOr<StageNest> stage = MatchStage(nest, *writer, result);
      if (!stage.ok() || !ReadsInOrder(*stage, buffer)) return std::nullopt;
      reader = Stage(result->name);
    }
    if (!reader) return std::nullopt;
  }
  return reader;
}

}  // namespace

bool GridFactor::DependsOnAxis(size_t axis) const {
  return std::ranges::any_of(dims, [&](const Dim& dim) { return dim.axes[axis] != 0; });
}

bool GridFactor::GoesUpWithAxis(size_t axis) const {
  return std::ranges::all_of(dims, [&](const Dim& dim) { return dim.axes[axis] >= 0; });
}

int64_t GridFactor::Extent(size_t dim, const std::vector<int64_t>& axis_extents,
                           const std::vector<int64_t>& step_extents) const {
  int64_t extent = 1;
  for (size_t i = 0; i < axis_extents.size(); ++i) {
    extent += std::abs(dims[dim].axes[i]) * (axis_extents[i] - 1);
  }
  for (size_t i = 0; i < step_extents.size(); ++i) {
    extent += std::abs(dims[dim].steps[i]) * (step_extents[i] - 1);
  }
  return extent;
}

std::vector<int64_t> GridFactor::ShapeFor(const std::vector<int64_t>& axis_extents,
                                          const std::vector<int64_t>& step_extents) const {
  std::vector<int64_t> shape;
  for (const Dim& dim : dims) {
    int64_t last = dim.first;
    for (size_t i = 0; i < axis_extents.size(); ++i) {
      last += std::max<int64_t>(dim.axes[i], 0) * (axis_extents[i] - 1);
    }
    for (size_t i = 0; i < step_extents.size(); ++i) {
      last += std::max<int64_t>(dim.steps[i], 0) * (step_extents[i] - 1);
    }
    shape.push_back(std::max(dim.extent, last + 1));
  }
  return shape;
}

int64_t GridSums::Results() const { return ProductOf(extents); }

int64_t GridSums::Terms() const { return ProductOf(steps); }

ResultStages TakeResults(Sequence* s, const GridSums& sums) {
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(s->nest(), sums.stage.buffer());
  if (buffer.ok() && (*buffer)->role == loop::Role::kWorkspace) {
    if (const std::optional<Stage> reader = ReaderInOrder(s->nest(), *buffer)) {
      return {.results = *reader, .registers = sums.stage};
    }
  }
  return {.results = sums.stage, .registers = s->CacheWrite(sums.stage)};
}

std::optional<GridSums> SumsOfStage(const Sequence& s, const Stage& stage) {
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(s.nest(), stage.buffer());
  if (!buffer.ok()) return std::nullopt;
  const absl::StatusOr<size_t> launch = WriterOf(s.nest(), *buffer);
  if (!launch.ok()) return std::nullopt;
  return SumsOf(s.nest(), *launch, *buffer);
}

std::optional<GridSums> MainSums(const Sequence& s) {
  std::optional<GridSums> main;
  for (const loop::Buffer& buffer : s.nest().buffers) {
    const absl::StatusOr<size_t> launch = WriterOf(s.nest(), buffer);
    if (!launch.ok() || s.nest().launches[*launch].phase != loop::Phase::kRun) continue;
    std::optional<GridSums> sums = SumsOf(s.nest(), *launch, buffer);
    if (!sums) continue;
    const auto work = [](const GridSums& of) { return of.Results() * of.Terms(); };
    if (!main || work(*main) < work(*sums)) main = std::move(sums);
  }
  return main;
}

}  // namespace hone::schedule
