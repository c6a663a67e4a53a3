#include "compiler/lower/lane_walk.h"

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"

namespace hone::lower {

using loop::Expr;
using loop::StmtKind;

namespace {

constexpr int64_t kMostLanes = 256;

// Whether lanes may disagree about the condition.
bool Varies(const Expr& condition, const LaneContext& context) {
  bool varies = false;
  loop::Walk(condition, [&](const Expr& e) {
    varies = varies || e.SameAs(context.lane) ||
             (e->kind == loop::ExprKind::kLoad && context.of_lane.contains(e->buffer.get()));
  });
  return varies;
}

void Visit(const loop::Stmt& s, const LaneContext& context,
           const std::function<bool(const loop::Stmt&, const LaneContext&)>& enter) {
  if (s == nullptr || !enter(s, context)) return;
  switch (s->kind) {
    case StmtKind::kFor:
      return Visit(s->body[0], context.Inside(s), enter);
    case StmtKind::kIf:
      for (size_t i = 0; i < s->body.size(); ++i) {
        Visit(s->body[i], context.Under(s->condition, i == 0), enter);
      }
      return;
    case StmtKind::kAlloc: {
      LaneContext inner = context;
      if (context.lane) inner.of_lane.insert(s->buffer.get());
      return Visit(s->body[0], inner, enter);
    }
    default:
      for (const loop::Stmt& child : s->body) Visit(child, context, enter);
  }
}

}  // namespace

int64_t VectorLanesOf(const loop::StmtNode& loop) {
  int64_t lanes = 0;
  const bool is_vector = loop.kind == StmtKind::kFor &&
                         loop.loop_kind == loop::LoopKind::kVectorize &&
                         loop::IsConstInt(loop.extent, &lanes) && lanes > 1 && lanes <= kMostLanes;
  return is_vector ? lanes : 0;
}

LaneContext LaneContext::Inside(const loop::Stmt& loop) const {
  LaneContext inner = *this;
  inner.bounds.PushLoop(*loop);
  if (!lane && VectorLanesOf(*loop) > 0) inner.lane = loop->var;
  return inner;
}

LaneContext LaneContext::Under(const Expr& condition, bool truth) const {
  LaneContext inner = *this;
  const bool holds = loop::Decide(condition, bounds) == truth;
  inner.is_masked = is_masked || (lane && !holds && Varies(condition, *this));
  inner.bounds.Assume(condition, truth);
  return inner;
}

loop::Linear LaneContext::OffsetOf(const loop::BufferNode& buffer,
                                   const std::vector<Expr>& indices) const {
  return loop::LinearForm(loop::PhysicalOffset(buffer, indices, bounds), bounds);
}

bool LaneContext::IsInside(const loop::BufferNode& buffer, const std::vector<Expr>& indices) const {
  const loop::Interval range = loop::BoundsOf(OffsetOf(buffer, indices), bounds);
  bool inside = range.min >= 0 && range.max < buffer.layout.ElementCount(buffer.shape);
  for (const Expr& index : indices) {
    loop::Walk(index, [&](const Expr& e) {
      if (e->kind != loop::ExprKind::kLoad) return;
      inside = inside && IsInside(*e->buffer, e->operands);
    });
  }
  return inside;
}

bool DependOn(const std::vector<Expr>& values, const loop::BufferNode& buffer) {
  bool depends = false;
  for (const Expr& value : values) {
    loop::Walk(value, [&](const Expr& e) {
      depends = depends || (e->kind == loop::ExprKind::kLoad && e->buffer.get() == &buffer);
    });
  }
  return depends;
}

std::optional<int64_t> MoveOf(const loop::Linear& offset, const Expr& var) {
  for (const loop::Linear::Term& term : offset.terms()) {
    if (!term.atom.SameAs(var) && loop::UsesVar(term.atom, var)) return std::nullopt;
  }
  return offset.CoefficientOf(var);
}

void WalkLanes(const loop::Stmt& body, const loop::Bounds& outside,
               const std::function<bool(const loop::Stmt&, const LaneContext&)>& enter) {
  LaneContext context;
  context.bounds = outside;
  Visit(body, context, enter);
}

}  // namespace hone::lower
