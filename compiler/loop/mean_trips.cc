#include "compiler/loop/mean_trips.h"

#include <utility>

#include "compiler/loop/linear.h"

namespace hone::loop {
namespace {

bool IsOneBehind(const Expr& begin, const Expr& end) {
  Linear step = Linear::Of(end);
  step.Add(Linear::Of(begin), -1);
  return step.IsConstant() && step.constant() == 1;
}

}  // namespace

std::optional<double> MeanTrips(const Expr& extent) {
  const Linear linear = Linear::Of(extent);
  if (linear.constant() != 0 || linear.terms().size() != 2) return std::nullopt;
  Linear::Term end = linear.terms()[0];
  Linear::Term begin = linear.terms()[1];
  if (end.coefficient < 0) std::swap(end, begin);
  const bool difference =
      end.coefficient == 1 && begin.coefficient == -1 && end.atom->kind == ExprKind::kLoad &&
      begin.atom->kind == ExprKind::kLoad && end.atom->buffer == begin.atom->buffer;
  if (!difference) return std::nullopt;
  const BufferNode& bounds = *end.atom->buffer;
  if (!bounds.ascending || bounds.shape.size() != 1 || bounds.shape[0] < 2 ||
      !IsOneBehind(begin.atom->operands[0], end.atom->operands[0])) {
    return std::nullopt;
  }
  return (bounds.domain_high - bounds.domain_low) / static_cast<double>(bounds.shape[0] - 1);
}

}  // namespace hone::loop
