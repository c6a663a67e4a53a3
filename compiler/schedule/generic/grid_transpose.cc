#include "compiler/schedule/generic/grid_transpose.h"

#include <algorithm>

#include "compiler/loop/linear.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {
namespace {

using loop::Expr;
using loop::ExprKind;

// How a load's indices go with the results' axes.
class LoadIndices {
 public:
  LoadIndices(const Expr& load, const StageNest& stage) : load_(load), stage_(stage) {
    for (const Expr& operand : load->operands) forms_.push_back(loop::Linear::Of(operand));
  }

  bool AreLinear() const {
    return std::ranges::all_of(forms_, [](const loop::Linear& form) {
      return std::ranges::all_of(form.terms(), [](const loop::Linear::Term& term) {
        return term.atom->kind == ExprKind::kVar;
      });
    });
  }

  // The last dimension of several elements.
  std::optional<size_t> Innermost() const {
    for (size_t d = forms_.size(); d-- > 0;) {
      if (load_->buffer->shape[d] > 1) return d;
    }
    return std::nullopt;
  }

  // The only dimension that moves along an axis, one element a step.
  std::optional<size_t> DimOf(size_t axis) const {
    std::optional<size_t> dim;
    for (size_t d = 0; d < forms_.size(); ++d) {
      const int64_t coefficient = forms_[d].CoefficientOf(stage_.loops[axis]->var);
      if (coefficient == 0) continue;
      if (dim || coefficient != 1) return std::nullopt;
      dim = d;
    }
    return dim;
  }

  // The axis along which alone the innermost dimension moves.
  std::optional<size_t> AxisOfInnermost() const {
    const std::optional<size_t> innermost = Innermost();
    for (size_t axis = 0; innermost && axis < stage_.loops.size(); ++axis) {
      if (DimOf(axis) == innermost && forms_[*innermost].terms().size() == 1) return axis;
    }
    return std::nullopt;
  }

 private:
  const Expr load_;
  const StageNest& stage_;
  std::vector<loop::Linear> forms_;
};

// Adds what one load says; false where no tile suits it and those before.
bool AddLoad(const Expr& load, const StageNest& stage, GridTranspose* transpose) {
  const LoadIndices indices(load, stage);
  if (!indices.AreLinear()) return false;
  const auto bytes = static_cast<int64_t>(SizeBytes(load->buffer->dtype));
  const std::optional<size_t> axis = indices.AxisOfInnermost();
  if (!axis || *axis == transpose->columns) {
    transpose->other_bytes += bytes;
    return true;
  }
  const std::optional<size_t> column_dim = indices.DimOf(transpose->columns);
  if (!column_dim) {  // all threads side by side load the same
    transpose->other_bytes += bytes;
    return true;
  }
  if (!transpose->loads.empty() && transpose->rows != *axis) return false;
  const std::string& buffer = load->buffer->name;
  // A copy holds what one load of a buffer needs.
  if (std::ranges::find(transpose->loads, buffer, &TransposedLoad::buffer) !=
      transpose->loads.end()) {
    return false;
  }
  transpose->rows = *axis;
  transpose->loads.push_back({.buffer = buffer,
                              .rank = load->operands.size(),
                              .row_dim = *indices.Innermost(),
                              .column_dim = *column_dim,
                              .element_bytes = bytes});
  return true;
}

}  // namespace

int64_t GridTranspose::Results() const {
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  return count;
}

std::optional<GridTranspose> ViewGridTranspose(const Sequence& s) {
  const loop::Nest& nest = s.nest();
  if (nest.launches.size() != 1) return std::nullopt;
  const loop::Stmt store = loop::InsideLoops(nest.launches[0].body);
  if (store->kind != loop::StmtKind::kStore) return std::nullopt;
  const absl::StatusOr<StageNest> stage = MatchStage(nest, 0, store->buffer);
  if (!stage.ok() || stage->body != store) return std::nullopt;
  GridTranspose transpose{.results = Stage(store->buffer->name),
                          .extents = store->buffer->shape,
                          .loads = {},
                          .result_bytes = static_cast<int64_t>(SizeBytes(store->buffer->dtype))};
  const auto several = std::ranges::find_if(transpose.extents.rbegin(), transpose.extents.rend(),
                                            [](int64_t extent) { return extent > 1; });
  if (several == transpose.extents.rend()) return std::nullopt;
  transpose.columns = static_cast<size_t>(transpose.extents.rend() - several) - 1;
  bool fits = true;
  loop::Walk(store->value, [&](const Expr& e) {
    if (e->kind == ExprKind::kLoad) fits = fits && AddLoad(e, *stage, &transpose);
  });
  return fits && !transpose.loads.empty() ? std::optional(std::move(transpose)) : std::nullopt;
}

}  // namespace hone::schedule
