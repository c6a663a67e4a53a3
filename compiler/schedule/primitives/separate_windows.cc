#include "compiler/schedule/primitives/separate_windows.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/stage_writer.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

namespace {

constexpr size_t kRank = 4;     // n, c, height, width
constexpr size_t kSpatial = 2;  // the first axis of these that windows go along

// A stage that combines the elements of windows.
struct Windows {
  Buffer result;
  size_t launch = 0;
  std::vector<Expr> axes;     // variables, by dimension
  std::vector<Expr> steps;    // those of the taps, height and width
  std::vector<int64_t> taps;  // how many there are
  std::vector<int64_t> strides;
  Expr first;
  loop::BinaryOp op = loop::BinaryOp::kAdd;
  double neutral = 0;
  Expr tap;  // what a step combines

  // How many places the windows have along height (0) or width (1).
  int64_t Extent(size_t axis) const {
    return (result->shape[kSpatial + axis] - 1) * strides[axis] + taps[axis];
  }
  // What is read at a place: the tap of that number of the first window.
  Expr At(const std::vector<Expr>& place) const {
    loop::VarMap to;
    for (size_t d = 0; d < kSpatial; ++d) to[axes[d].get()] = place[d];
    for (size_t d = kSpatial; d < kRank; ++d) {
      to[axes[d].get()] = Expr(0);
      to[steps[d - kSpatial].get()] = place[d];
    }
    return loop::Substitute(tap, to);
  }
  // The place of a window's tap.
  Expr Place(size_t axis, const Expr& window, const Expr& step) const {
    return window * Expr(strides[axis]) + step;
  }
};

// The loops over the taps and the update in them.
bool TakeUpdate(Stmt s, Windows* windows) {
  for (; s->kind == StmtKind::kFor; s = s->body[0]) {
    int64_t min = 0, extent = 0;
    if (!loop::IsConstInt(s->min, &min) || min != 0 || !loop::IsConstInt(s->extent, &extent)) {
      return false;
    }
    windows->steps.push_back(s->var);
    windows->taps.push_back(extent);
  }
  if (windows->steps.size() != kRank - kSpatial || s->kind != StmtKind::kStore ||
      s->buffer != windows->result || !loop::Accumulates(*s)) {
    return false;
  }
  windows->op = s->value->binary_op;
  windows->tap = s->value->operands[1];
  const std::optional<double> neutral = loop::NeutralOf(windows->op, windows->result->dtype);
  if (!neutral || Loads(windows->tap, windows->result)) return false;
  windows->neutral = *neutral;
  return true;
}

// Whether a tap is what lies at its place, whatever window it is of.
bool TapsLieInPlaces(const Windows& windows) {
  std::vector<Expr> place(windows.axes.begin(), windows.axes.begin() + kSpatial);
  for (size_t axis = 0; axis < windows.steps.size(); ++axis) {
    place.push_back(windows.Place(axis, windows.axes[kSpatial + axis], windows.steps[axis]));
  }
  return loop::StructuralEqual(loop::Simplify(windows.At(place), {}),
                               loop::Simplify(windows.tap, {}));
}

absl::StatusOr<Windows> MatchWindows(const loop::Nest& nest, const std::string& name,
                                     const std::vector<int64_t>& strides) {
  Windows windows;
  windows.strides = strides;
  HONE_ASSIGN_OR_RETURN(windows.result, FindBuffer(nest, name));
  HONE_ASSIGN_OR_RETURN(windows.launch, WriterOf(nest, windows.result));
  HONE_ASSIGN_OR_RETURN(const StageNest stage, MatchStage(nest, windows.launch, windows.result));
  for (const Stmt& loop : stage.loops) windows.axes.push_back(loop->var);
  const std::vector<Stmt>& parts = stage.body->body;
  const bool starts = stage.body->kind == StmtKind::kSeq && windows.axes.size() == kRank &&
                      parts.size() == 2 && parts[0]->kind == StmtKind::kStore;
  if (!starts || strides.size() != kRank - kSpatial || !TakeUpdate(parts[1], &windows) ||
      !TapsLieInPlaces(windows)) {
    return absl::FailedPreconditionError(
        fmt::format("the stage of '{}' must combine neighbouring elements of windows of two axes "
                    "that are {} apart",
                    name, fmt::join(strides, " and ")));
  }
  windows.first = parts[0]->value;
  return windows;
}

}  // namespace

absl::StatusOr<SeparateStages> SeparateWindows(loop::Nest* nest, const Stage& stage,
                                               const std::vector<int64_t>& strides) {
  HONE_ASSIGN_OR_RETURN(const Windows windows, MatchWindows(*nest, stage.buffer(), strides));
  const std::vector<int64_t>& shape = windows.result->shape;
  const int64_t height = windows.Extent(0), width = windows.Extent(1);
  StageWriter writer(nest, windows.result);
  const Buffer elements = writer.Compute("elements", {shape[0], shape[1], height, width},
                                         [&](const std::vector<Expr>& i) { return windows.At(i); });
  const Expr neutral = loop::Const(windows.neutral, windows.result->dtype);
  const Buffer rows = writer.Reduce(
      "rows", {shape[0], shape[1], height, shape[3]}, {neutral, windows.op, {windows.taps[1]}},
      [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
        return Load(elements, {i[0], i[1], i[2], windows.Place(1, i[3], r[0])});
      });
  writer.FillReduced(windows.result, {windows.first, windows.op, {windows.taps[0]}},
                     [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
                       return Load(rows, {i[0], i[1], windows.Place(0, i[2], r[0]), i[3]});
                     });
  std::move(writer).Replace(windows.launch);
  return SeparateStages{Stage(elements->name), Stage(rows->name)};
}

}  // namespace hone::schedule
