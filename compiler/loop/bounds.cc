#include "compiler/loop/bounds.h"

#include <algorithm>
#include <limits>

#include "compiler/loop/scalar.h"

namespace hone::loop {
namespace {

using MaybeInterval = std::optional<Interval>;

MaybeInterval AddScaled(const Interval& a, const Interval& b, int64_t factor) {
  int64_t low = factor >= 0 ? b.min : b.max;
  int64_t high = factor >= 0 ? b.max : b.min;
  Interval sum;
  if (__builtin_mul_overflow(low, factor, &low) || __builtin_mul_overflow(high, factor, &high) ||
      __builtin_add_overflow(a.min, low, &sum.min) ||
      __builtin_add_overflow(a.max, high, &sum.max)) {
    return std::nullopt;
  }
  return sum;
}

MaybeInterval Multiply(const Interval& a, const Interval& b) {
  Interval product{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (int64_t x : {a.min, a.max}) {
    for (int64_t y : {b.min, b.max}) {
      int64_t value = 0;
      if (__builtin_mul_overflow(x, y, &value)) return std::nullopt;
      product.min = std::min(product.min, value);
      product.max = std::max(product.max, value);
    }
  }
  return product;
}

Interval Union(const Interval& a, const Interval& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

MaybeInterval RangeOfType(DataType dtype) {
  switch (dtype) {
    case DataType::kBool:
      return Interval{0, 1};
    case DataType::kUInt8:
      return Interval{0, 255};
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32: {
      const int64_t high = (int64_t{1} << (SizeBytes(dtype) * 8 - 1)) - 1;
      return Interval{-high - 1, high};
    }
    default:
      return std::nullopt;
  }
}

// Nothing where the value may have wrapped around.
MaybeInterval Fit(const MaybeInterval& value, DataType dtype) {
  const MaybeInterval range = RangeOfType(dtype);
  if (!value || !range) return value;
  return value->min >= range->min && value->max <= range->max ? value : range;
}

MaybeInterval OfDivision(const ExprNode& e, const Bounds& bounds) {
  const MaybeInterval divisor = BoundsOf(e.operands[1], bounds);
  const bool floor_mod = e.binary_op == BinaryOp::kFloorMod;
  if (!divisor || divisor->min <= 0) return std::nullopt;
  const MaybeInterval dividend = BoundsOf(e.operands[0], bounds);
  const bool constant = divisor->min == divisor->max;
  if (floor_mod) {
    const Interval all{0, divisor->max - 1};
    if (!constant || !dividend) return all;
    const int64_t quotient = FloorDivInt(dividend->min, divisor->min);
    if (quotient != FloorDivInt(dividend->max, divisor->min)) return all;
    return Interval{FloorModInt(dividend->min, divisor->min),
                    FloorModInt(dividend->max, divisor->min)};
  }
  if (!dividend) return std::nullopt;
  const bool floor = e.binary_op == BinaryOp::kFloorDiv;
  if (e.binary_op == BinaryOp::kMod) {
    const int64_t limit = divisor->max - 1;
    return Interval{dividend->min < 0 ? std::max(-limit, dividend->min) : 0,
                    dividend->max > 0 ? std::min(limit, dividend->max) : 0};
  }
  const auto divide = [&](int64_t a, int64_t b) { return floor ? FloorDivInt(a, b) : a / b; };
  return Union({divide(dividend->min, divisor->min), divide(dividend->max, divisor->max)},
               {divide(dividend->min, divisor->max), divide(dividend->max, divisor->min)});
}

MaybeInterval OfMinMax(const ExprNode& e, const Bounds& bounds) {
  const MaybeInterval a = BoundsOf(e.operands[0], bounds);
  const MaybeInterval b = BoundsOf(e.operands[1], bounds);
  if (!a || !b) return std::nullopt;
  if (e.binary_op == BinaryOp::kMin) {
    return Interval{std::min(a->min, b->min), std::min(a->max, b->max)};
  }
  return Interval{std::max(a->min, b->min), std::max(a->max, b->max)};
}

MaybeInterval OfBinary(const Expr& e, const Bounds& bounds) {
  switch (e->binary_op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub: {
      const MaybeInterval a = BoundsOf(e->operands[0], bounds);
      const MaybeInterval b = BoundsOf(e->operands[1], bounds);
      if (!a || !b) return std::nullopt;
      return AddScaled(*a, *b, e->binary_op == BinaryOp::kAdd ? 1 : -1);
    }
    case BinaryOp::kMul: {
      const MaybeInterval a = BoundsOf(e->operands[0], bounds);
      const MaybeInterval b = BoundsOf(e->operands[1], bounds);
      return a && b ? Multiply(*a, *b) : std::nullopt;
    }
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      return OfDivision(*e, bounds);
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return OfMinMax(*e, bounds);
    default:
      return std::nullopt;
  }
}

// Of an expression that is not linear, or not int64.
MaybeInterval OfAtom(const Expr& e, const Bounds& bounds) {
  switch (e->kind) {
    case ExprKind::kInt:
      return Interval{e->int_value, e->int_value};
    case ExprKind::kVar: {
      const auto it = bounds.find(e.get());
      return it != bounds.end() ? MaybeInterval(it->second) : RangeOfType(e->dtype);
    }
    case ExprKind::kBinary:
      if (e->dtype == DataType::kBool) {
        if (const std::optional<bool> truth = Decide(e, bounds)) return Interval{*truth, *truth};
        return Interval{0, 1};
      }
      return Fit(OfBinary(e, bounds), e->dtype);
    case ExprKind::kUnary: {
      const MaybeInterval a = BoundsOf(e->operands[0], bounds);
      if (e->unary_op == UnaryOp::kNeg && a) {
        return Fit(AddScaled({0, 0}, *a, -1), e->dtype);
      }
      if (e->unary_op == UnaryOp::kSign) return Interval{-1, 1};
      return RangeOfType(e->dtype);
    }
    case ExprKind::kSelect: {
      const MaybeInterval then = BoundsOf(e->operands[1], bounds);
      const MaybeInterval otherwise = BoundsOf(e->operands[2], bounds);
      return then && otherwise ? MaybeInterval(Union(*then, *otherwise)) : std::nullopt;
    }
    case ExprKind::kCast:
      if (IsFloat(e->operands[0]->dtype)) return RangeOfType(e->dtype);
      if (e->dtype == DataType::kBool) return Interval{0, 1};
      return Fit(BoundsOf(e->operands[0], bounds), e->dtype);
    default:
      return RangeOfType(e->dtype);
  }
}

std::optional<bool> DecideComparison(BinaryOp op, const Interval& d) {  // of a - b with zero
  switch (op) {
    case BinaryOp::kLt:
      return d.max < 0 ? std::optional(true) : d.min >= 0 ? std::optional(false) : std::nullopt;
    case BinaryOp::kLe:
      return d.max <= 0 ? std::optional(true) : d.min > 0 ? std::optional(false) : std::nullopt;
    case BinaryOp::kGt:
      return d.min > 0 ? std::optional(true) : d.max <= 0 ? std::optional(false) : std::nullopt;
    case BinaryOp::kGe:
      return d.min >= 0 ? std::optional(true) : d.max < 0 ? std::optional(false) : std::nullopt;
    case BinaryOp::kEq:
      if (d.min > 0 || d.max < 0) return false;
      return d.min == 0 && d.max == 0 ? std::optional(true) : std::nullopt;
    case BinaryOp::kNe:
      if (d.min > 0 || d.max < 0) return true;
      return d.min == 0 && d.max == 0 ? std::optional(false) : std::nullopt;
    default:
      return std::nullopt;
  }
}

MaybeInterval Difference(const Expr& a, const Expr& b, const Bounds& bounds) {
  if (a->dtype == DataType::kInt64) {
    Linear difference = Linear::Of(a);
    difference.Add(Linear::Of(b), -1);
    return BoundsOf(difference, bounds);
  }
  const MaybeInterval x = BoundsOf(a, bounds);
  const MaybeInterval y = BoundsOf(b, bounds);
  return x && y ? AddScaled(*x, *y, -1) : std::nullopt;
}

BinaryOp Negated(BinaryOp op) {
  switch (op) {
    case BinaryOp::kLt:
      return BinaryOp::kGe;
    case BinaryOp::kLe:
      return BinaryOp::kGt;
    case BinaryOp::kGt:
      return BinaryOp::kLe;
    case BinaryOp::kGe:
      return BinaryOp::kLt;
    case BinaryOp::kEq:
      return BinaryOp::kNe;
    default:
      return BinaryOp::kEq;
  }
}

// coefficient * var + constant <= 0, for an integer var.
void NarrowAtMostZero(const Expr& var, int64_t coefficient, int64_t constant, Bounds& bounds) {
  const auto it = bounds.find(var.get());
  if (it == bounds.end() || constant == std::numeric_limits<int64_t>::min()) return;
  if (coefficient > 0) {
    it->second.max = std::min(it->second.max, FloorDivInt(-constant, coefficient));
  } else {
    it->second.min = std::max(it->second.min, -FloorDivInt(-constant, -coefficient));
  }
}

void AssumeComparison(BinaryOp op, const Expr& a, const Expr& b, Bounds& bounds) {
  if (a->dtype != DataType::kInt64) return;
  Linear d = Linear::Of(a);
  d.Add(Linear::Of(b), -1);
  if (d.terms().size() != 1 || d.terms()[0].atom->kind != ExprKind::kVar) return;
  const auto& [var, coefficient] = d.terms()[0];
  const int64_t constant = d.constant();
  const bool below = op == BinaryOp::kLe || op == BinaryOp::kLt || op == BinaryOp::kEq;
  const bool above = op == BinaryOp::kGe || op == BinaryOp::kGt || op == BinaryOp::kEq;
  const int64_t strict = op == BinaryOp::kLt || op == BinaryOp::kGt ? 1 : 0;
  if (below) NarrowAtMostZero(var, coefficient, constant + strict, bounds);
  if (above) NarrowAtMostZero(var, -coefficient, -constant + strict, bounds);
}

}  // namespace

std::optional<Interval> BoundsOf(const Linear& linear, const Bounds& bounds) {
  MaybeInterval sum = Interval{linear.constant(), linear.constant()};
  for (const Linear::Term& term : linear.terms()) {
    const MaybeInterval atom = OfAtom(term.atom, bounds);
    if (!atom || !sum) return std::nullopt;
    sum = AddScaled(*sum, *atom, term.coefficient);
  }
  return sum;
}

std::optional<Interval> BoundsOf(const Expr& e, const Bounds& bounds) {
  if (IsFloat(e->dtype)) return std::nullopt;
  if (e->dtype != DataType::kInt64 || e->kind != ExprKind::kBinary) return OfAtom(e, bounds);
  const BinaryOp op = e->binary_op;
  if (op != BinaryOp::kAdd && op != BinaryOp::kSub) return OfAtom(e, bounds);
  return BoundsOf(Linear::Of(e), bounds);
}

std::optional<Interval> LoopBounds(const StmtNode& loop, const Bounds& outer) {
  const MaybeInterval min = BoundsOf(loop.min, outer);
  const MaybeInterval extent = BoundsOf(loop.extent, outer);
  if (!min || !extent || extent->max <= 0) return std::nullopt;
  const MaybeInterval last = BoundsOf(loop.min + loop.extent, outer);
  if (!last) return std::nullopt;
  return Interval{min->min, last->max - 1};
}

std::optional<bool> Decide(const Expr& condition, const Bounds& bounds) {
  if (condition->kind == ExprKind::kInt) return condition->int_value != 0;
  if (condition->kind == ExprKind::kUnary && condition->unary_op == UnaryOp::kNot) {
    const std::optional<bool> a = Decide(condition->operands[0], bounds);
    return a ? std::optional(!*a) : std::nullopt;
  }
  if (condition->kind != ExprKind::kBinary) return std::nullopt;
  const BinaryOp op = condition->binary_op;
  const Expr& a = condition->operands[0];
  const Expr& b = condition->operands[1];
  if (op == BinaryOp::kAnd || op == BinaryOp::kOr) {
    const bool decisive = op == BinaryOp::kOr;  // one such operand decides
    const std::optional<bool> x = Decide(a, bounds);
    const std::optional<bool> y = Decide(b, bounds);
    if (x == decisive || y == decisive) return decisive;
    return x && y ? std::optional(!decisive) : std::nullopt;
  }
  if (!IsComparison(op) || IsFloat(a->dtype)) return std::nullopt;
  const MaybeInterval difference = Difference(a, b, bounds);
  return difference ? DecideComparison(op, *difference) : std::nullopt;
}

void Assume(const Expr& condition, bool truth, Bounds& bounds) {
  if (condition->kind == ExprKind::kUnary && condition->unary_op == UnaryOp::kNot) {
    return Assume(condition->operands[0], !truth, bounds);
  }
  if (condition->kind != ExprKind::kBinary) return;
  const BinaryOp op = condition->binary_op;
  if (op == (truth ? BinaryOp::kAnd : BinaryOp::kOr)) {
    Assume(condition->operands[0], truth, bounds);
    Assume(condition->operands[1], truth, bounds);
  } else if (IsComparison(op)) {
    AssumeComparison(truth ? op : Negated(op), condition->operands[0], condition->operands[1],
                     bounds);
  }
}

}  // namespace hone::loop
