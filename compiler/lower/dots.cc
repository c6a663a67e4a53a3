#include "compiler/lower/dots.h"

#include <optional>
#include <vector>

#include "compiler/loop/accumulation.h"
#include "compiler/lower/lane_walk.h"

namespace hone::lower {
namespace {

// Whether 32 bits of memory have the factors of all steps, and those of the lanes are the same or
// follow each other.
bool IsPacked(const loop::Expr& load, const loop::Expr& step, const LaneContext& context) {
  if (context.of_lane.contains(load->buffer.get())) return false;
  const loop::Linear offset = context.OffsetOf(*load->buffer, load->operands);
  if (MoveOf(offset, step) != 1) return false;
  if (!context.lane) return true;
  const std::optional<int64_t> by_lane = MoveOf(offset, context.lane);
  return by_lane == 0 || by_lane == loop::DotSteps(load->dtype);
}

bool IsInstruction(const loop::Stmt& dot, const LaneContext& outside) {
  const loop::Stmt& store = dot->body[0];
  const std::vector<loop::DotFactor> factors = loop::DotFactorsOf(store, dot->var);
  if (factors.empty() || outside.is_masked) return false;
  const int64_t steps = store->buffer->dtype == DataType::kInt32 ? 4 : 2;
  if (!loop::IsInt(dot->extent, steps)) return false;
  const LaneContext inside = outside.Inside(dot);
  // A step must not change what the next ones read.
  if (DependOn(store->indices, *store->buffer)) return false;
  for (const loop::DotFactor& factor : factors) {
    if (DependOn({factor.load}, *store->buffer)) return false;
    if (factor.shift && DependOn({factor.shift}, *store->buffer)) return false;
    if (!factor.shift && !IsPacked(factor.load, dot->var, inside)) return false;
  }
  return true;
}

}  // namespace

DotPlan PlanDots(const loop::Stmt& body, const loop::Bounds& outside,
                 const std::function<bool(const loop::Stmt&)>& is_whole) {
  DotPlan plan;
  WalkLanes(body, outside, [&](const loop::Stmt& s, const LaneContext& context) {
    if (s->kind == loop::StmtKind::kFor && s->loop_kind == loop::LoopKind::kDot &&
        IsInstruction(s, context)) {
      plan.insert(s.get());
    }
    return !is_whole(s);
  });
  return plan;
}

}  // namespace hone::lower
