#include "compiler/schedule/primitives/access_check.h"

#include <algorithm>
#include <optional>

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/region.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Expr;
using loop::Linear;
using loop::Stmt;

// The range of a value, also by what relates the bounds of loops to each other.
loop::Interval RangeOf(const Linear& x, const Bounds& bounds) {
  loop::Interval range = BoundsOf(x, bounds);
  const std::optional<Linear> low = Extreme(x, bounds, 0, /*largest=*/false);
  const std::optional<Linear> high = Extreme(x, bounds, 0, /*largest=*/true);
  if (low && low->IsConstant()) range.min = std::max(range.min, low->constant());
  if (high && high->IsConstant()) range.max = std::min(range.max, high->constant());
  return range;
}

bool AccessCheck::Holds(const Stmt& s) {
  bool holds = true;
  loop::ForEachExpr(*s, [&](const Expr& e) { holds = holds && HoldsExpr(e); });
  if (!holds) return false;
  if (s->kind == loop::StmtKind::kFor) {
    bounds_.PushLoop(*s);
    holds = Holds(s->body[0]);
    bounds_.Pop();
    return holds;
  }
  for (size_t i = 0; i < s->body.size() && holds; ++i) {
    const bool known = s->kind == loop::StmtKind::kIf;
    holds =
        known ? Under(s->condition, i == 0, [&] { return Holds(s->body[i]); }) : Holds(s->body[i]);
  }
  return holds;
}
template <typename Check>
bool AccessCheck::Under(const Expr& condition, bool truth, const Check& check) {
  if (loop::Decide(condition, bounds_) == !truth) return true;  // never evaluated
  const Bounds outside = bounds_;
  bounds_.Assume(condition, truth);
  // What one part of the condition says may exclude the other: 0 <= i * 5 - 2 < 3.
  const bool never = loop::Decide(condition, bounds_) == !truth;
  const bool holds = never || check();
  bounds_ = outside;
  return holds;
}

bool AccessCheck::HoldsExpr(const Expr& e) {
  if (e->kind == loop::ExprKind::kSelect) {
    const Expr& condition = e->operands[0];
    return HoldsExpr(condition) &&
           Under(condition, true, [&] { return HoldsExpr(e->operands[1]); }) &&
           Under(condition, false, [&] { return HoldsExpr(e->operands[2]); });
  }
  if (e->kind == loop::ExprKind::kLoad && e->buffer != own_ && !Inside(*e)) {
    where_ = loop::ToText(e);
    return false;
  }
  return std::all_of(e->operands.begin(), e->operands.end(),
                     [&](const Expr& operand) { return HoldsExpr(operand); });
}

bool AccessCheck::Inside(const loop::ExprNode& load) const {
  for (size_t d = 0; d < load.operands.size(); ++d) {
    const int64_t padded =
        load.buffer->layout.PaddedExtent(static_cast<int>(d), load.buffer->shape[d]);
    const Linear index = LinearForm(load.operands[d], bounds_);
    // What a condition says of x serves floordiv(x, 4), but not its parts once it is split up.
    if (!BoundsOf(index, bounds_).Within(0, padded - 1) &&
        !RangeOf(index, bounds_).Within(0, padded - 1) &&
        !BoundsOf(load.operands[d], bounds_).Within(0, padded - 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace hone::schedule
