#include "compiler/loop/bounds.h"

#include <algorithm>
#include <limits>

#include "compiler/loop/extreme.h"
#include "compiler/loop/scalar.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"

namespace hone::loop {
namespace {

// All of the type where the value may have wrapped around.
Interval Fit(const Interval& value, DataType dtype) {
  // Intervals are of numbers: those of uint64 from 2^63 on are beyond them.
  if (dtype == DataType::kUInt64) return value.min >= 0 && value.HasMax() ? value : Interval();
  const Interval range = Interval::OfType(dtype);
  return value.Within(range.min, range.max) ? value : range;
}

bool IsBounded(const Interval& value) { return value.HasMin() && value.HasMax(); }

Interval OfDivision(BinaryOp op, const Interval& dividend, const Interval& divisor) {
  if (divisor.min <= 0) return {};
  switch (op) {
    case BinaryOp::kFloorDiv:
      return FloorDiv(dividend, divisor);
    case BinaryOp::kFloorMod:
      return FloorMod(dividend, divisor);
    case BinaryOp::kDiv:
      return TruncatedDiv(dividend, divisor);
    default:
      return TruncatedMod(dividend, divisor);
  }
}

Interval OfBinary(const Expr& e, const Bounds& bounds) {
  const Interval a = BoundsOf(e->operands[0], bounds);
  const Interval b = BoundsOf(e->operands[1], bounds);
  switch (e->binary_op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      return OfDivision(e->binary_op, a, b);
    case BinaryOp::kMin:
      return Min(a, b);
    case BinaryOp::kMax:
      return Max(a, b);
    default:
      return {};
  }
}

Interval OfCondition(const Expr& e, const Bounds& bounds) {
  const std::optional<bool> truth = Decide(e, bounds);
  return truth ? Interval::Point(*truth ? 1 : 0) : Interval{0, 1};
}

// The bounds of an expression that is not linear, or not int64.
Interval OfAtom(const Expr& e, const Bounds& bounds) {
  switch (e->kind) {
    case ExprKind::kInt:
      return Fit(Interval::Point(e->int_value), e->dtype);
    case ExprKind::kVar: {
      const Bounds::Variable* known = bounds.Find(e.get());
      return known != nullptr ? known->interval : Interval::OfType(e->dtype);
    }
    case ExprKind::kBinary: {
      if (e->dtype == DataType::kBool) return OfCondition(e, bounds);
      const Interval value = Fit(OfBinary(e, bounds), e->dtype);
      const bool wraps = e->binary_op == BinaryOp::kMul && !IsBounded(value) && IsOfData(e);
      return wraps ? Interval::OfType(e->dtype) : value;
    }
    case ExprKind::kUnary:
      if (e->unary_op == UnaryOp::kSign) return {IsUnsigned(e->dtype) ? 0 : -1, 1};
      if (e->unary_op != UnaryOp::kNeg) return Interval::OfType(e->dtype);
      return Fit(BoundsOf(e->operands[0], bounds) * -1, e->dtype);
    case ExprKind::kSelect:
      return Union(BoundsOf(e->operands[1], bounds), BoundsOf(e->operands[2], bounds));
    case ExprKind::kCast:
      if (IsFloat(e->operands[0]->dtype)) return Interval::OfType(e->dtype);
      if (e->dtype == DataType::kBool) return {0, 1};
      return Fit(BoundsOf(e->operands[0], bounds), e->dtype);
    default:
      return Interval::OfType(e->dtype);
  }
}

// ---- linear expressions: first by the variables' intervals alone, then by their relations ----

Interval PlainBounds(const Linear& linear, const Bounds& bounds) {
  Interval sum = Interval::Point(linear.constant());
  for (const Linear::Term& term : linear.terms()) {
    sum = sum + OfAtom(term.atom, bounds) * term.coefficient;
  }
  return sum;
}

bool HasRelations(const Linear& linear, const Bounds& bounds) {
  if (linear.terms().size() < 2) return false;
  return std::any_of(linear.terms().begin(), linear.terms().end(), [&](const auto& term) {
    if (term.atom->kind != ExprKind::kVar) {
      return IsBinary(term.atom, BinaryOp::kMin) || IsBinary(term.atom, BinaryOp::kMax);
    }
    const Bounds::Variable* known = bounds.Find(term.atom.get());
    return known != nullptr && (known->min || known->max);
  });
}

// The largest value, by the variables' relations; what these leave by intervals.
class UpperBound {
 public:
  using Result = int64_t;
  explicit UpperBound(const Bounds& bounds) : bounds_(bounds) {}

  // A maximum is no smaller than what its intervals say: taking it apart gains little.
  static bool IsChoice(const Linear::Term& term) {
    return IsBinary(term.atom, term.coefficient > 0 ? BinaryOp::kMin : BinaryOp::kMax);
  }
  static Linear Form(const Expr& e) { return Linear::Of(e); }

  // Puts the extreme value of a variable that depends on others in its place, innermost first.
  bool Replace(Linear* x) const {
    for (size_t i = bounds_.variables().size(); i-- > 0;) {
      const Bounds::Variable& known = bounds_.variables()[i];
      if (!known.min && !known.max) continue;
      const int64_t coefficient = x->CoefficientOf(known.var);
      const Expr& limit = coefficient > 0 ? known.max : known.min;
      if (coefficient == 0 || !limit || bounds_.Find(known.var.get()) != &known) continue;
      x->AddTerm(known.var, -coefficient);
      x->Add(Linear::Of(limit), coefficient);
      return true;
    }
    return false;
  }

  int64_t Leaf(const Linear& x) const { return PlainBounds(x, bounds_).max; }
  int64_t Unresolved(const Linear& x) const { return Leaf(x); }
  static int64_t Join(BinaryOp, int64_t a, int64_t b) { return std::min(a, b); }
  int64_t Tighten(const Linear& x, int64_t result) const { return std::min(result, Leaf(x)); }

 private:
  const Bounds& bounds_;
};

Interval BoundsByRelations(const Linear& linear, const Bounds& bounds) {
  constexpr int kDepth = 4;
  Linear negated;
  negated.Add(linear, -1);
  UpperBound search(bounds);
  return {-ExtremeOf(negated, search, kDepth), ExtremeOf(linear, search, kDepth)};
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

// What `a op b` says of a - b.
Interval IntervalOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::kLt:
      return {-Interval::kInfinity, -1};
    case BinaryOp::kLe:
      return {-Interval::kInfinity, 0};
    case BinaryOp::kGt:
      return {1, Interval::kInfinity};
    case BinaryOp::kGe:
      return {0, Interval::kInfinity};
    case BinaryOp::kEq:
      return {0, 0};
    default:
      return {};
  }
}

// The values of x with coefficient * x + constant within `sum`.
Interval Solve(int64_t coefficient, int64_t constant, const Interval& sum) {
  Interval product = sum - Interval::Point(constant);
  if (coefficient < 0) product = product * -1;
  const int64_t step = std::abs(coefficient);
  return {product.HasMin() ? -FloorDivInt(-product.min, step) : -Interval::kInfinity,
          product.HasMax() ? FloorDivInt(product.max, step) : Interval::kInfinity};
}

// ---- quotients of minima ----

bool IsQuotient(const Expr& e) {
  return IsBinary(e, BinaryOp::kFloorDiv) && e->operands[1]->kind == ExprKind::kInt &&
         e->operands[1]->int_value > 0;
}

// floordiv(x, divisor) without a division, or null: floordiv(min(a, b), c) is min(floordiv(a, c),
// floordiv(b, c)), and those of a and b may leave no rest.
Expr QuotientInside(const Linear& x, int64_t divisor, const Bounds& bounds) {
  const Linear quotient = LinearForm(FloorDiv(x.ToExpr(), IntConst(divisor)), bounds);
  const auto is_quotient = [](const Linear::Term& term) { return IsQuotient(term.atom); };
  if (std::none_of(quotient.terms().begin(), quotient.terms().end(), is_quotient)) {
    return quotient.ToExpr();
  }
  for (const auto& [atom, coefficient] : x.terms()) {
    if (!IsMinOrMax(atom)) continue;
    Expr sides[2];
    for (size_t i = 0; i < 2; ++i) {
      Linear side = x;
      side.AddTerm(atom, -coefficient);
      side.Add(Linear::Of(atom->operands[i]), coefficient);
      sides[i] = QuotientInside(side, divisor, bounds);
      if (!sides[i]) return {};
    }
    const bool smaller = (atom->binary_op == BinaryOp::kMin) == (coefficient > 0);
    return Binary(smaller ? BinaryOp::kMin : BinaryOp::kMax, sides[0], sides[1]);
  }
  return {};
}

// What relates a loop to those around it must not hide in a quotient: the number of tiles of a
// block that is clipped is such a one.
Linear WithoutQuotientsOfMinima(const Linear& linear, const Bounds& bounds) {
  Linear result(linear.constant());
  for (const auto& [atom, coefficient] : linear.terms()) {
    Expr inside;
    if (IsQuotient(atom)) {
      inside = QuotientInside(Linear::Of(atom->operands[0]), atom->operands[1]->int_value, bounds);
    }
    result.Add(inside ? Linear::Of(inside) : Linear::Atom(atom), coefficient);
  }
  return result;
}

}  // namespace

// The bounds of the sum as a number, whether or not that is an int64.
class LinearBounds {
 public:
  static Interval Of(const Linear& linear, const Bounds& bounds) {
    if (linear.IsConstant()) return Interval::Point(linear.constant());
    Interval result = HasRelations(linear, bounds) ? BoundsByRelations(linear, bounds)
                                                   : PlainBounds(linear, bounds);
    for (const Bounds::Fact& fact : bounds.facts_) {
      for (const int64_t sign : {1, -1}) {
        Linear distance = linear;
        distance.Add(fact.value, -sign);
        if (!distance.IsConstant()) continue;
        result = Intersect(result, fact.interval * sign + Interval::Point(distance.constant()));
      }
    }
    return result;
  }
};

Bounds::Bounds(std::initializer_list<std::pair<Expr, Interval>> variables) {
  for (const auto& [var, interval] : variables) Push(var, interval);
}

void Bounds::Push(Expr var, Interval interval) {
  variables_.push_back({std::move(var), interval, {}, {}, false});
}

void Bounds::PushLoop(const StmtNode& loop) {
  const bool rebound = Find(loop.var.get()) != nullptr;
  const bool is_lane = loop.loop_kind == LoopKind::kVectorize;
  int64_t first = 0;
  int64_t count = 0;
  if (IsConstInt(loop.min, &first) && IsConstInt(loop.extent, &count)) {  // most are
    if (rebound) Forget(loop.var);
    Linear last(count);
    last.AddConstant(first);
    last.AddConstant(-1);
    const Interval interval{Interval::Point(first).min, Interval::Point(last.constant()).max};
    variables_.push_back({loop.var, interval, {}, {}, is_lane});
    return;
  }
  const Linear min = LinearForm(loop.min, *this);
  Linear max = LinearForm(loop.extent, *this);
  max.Add(min);
  max.AddConstant(-1);
  if (rebound) Forget(loop.var);
  const bool related =
      !rebound && loop.min->dtype == DataType::kInt64 && loop.extent->dtype == DataType::kInt64;
  const auto limit = [&](const Linear& linear) {
    if (!related || linear.IsConstant()) return Expr();
    Expr e = WithoutQuotientsOfMinima(linear, *this).ToExpr();
    return IsStable(e) ? e : Expr();
  };
  variables_.push_back({loop.var,
                        // What a loop counts is index arithmetic, whatever it is made of.
                        {LinearBounds::Of(min, *this).min, LinearBounds::Of(max, *this).max},
                        limit(min),
                        limit(max),
                        is_lane});
}

void Bounds::Forget(const Expr& var) {
  for (Variable& known : variables_) {
    if (known.min && UsesVar(known.min, var)) known.min = Expr();
    if (known.max && UsesVar(known.max, var)) known.max = Expr();
  }
  std::erase_if(facts_, [&](const Fact& fact) { return UsesVar(fact.value.ToExpr(), var); });
}

const Bounds::Variable* Bounds::Find(const ExprNode* var) const {
  for (size_t i = variables_.size(); i-- > 0;) {
    if (variables_[i].var.get() == var) return &variables_[i];
  }
  return nullptr;
}

void Bounds::Assume(const Expr& condition, bool truth) {
  if (condition->kind == ExprKind::kUnary && condition->unary_op == UnaryOp::kNot) {
    return Assume(condition->operands[0], !truth);
  }
  if (condition->kind != ExprKind::kBinary) return;
  const BinaryOp op = condition->binary_op;
  if (op == (truth ? BinaryOp::kAnd : BinaryOp::kOr)) {
    Assume(condition->operands[0], truth);
    Assume(condition->operands[1], truth);
  } else if (IsComparison(op) && IsStable(condition)) {
    AssumeComparison(truth ? op : Negated(op), condition->operands[0], condition->operands[1]);
  }
}

void Bounds::AssumeComparison(BinaryOp op, const Expr& a, const Expr& b) {
  if (a->dtype != DataType::kInt64) return;
  Linear difference = LinearForm(a, *this);
  const Linear other = LinearForm(b, *this);
  if (MayWrap(difference, *this) || MayWrap(other, *this)) return;
  difference.Add(other, -1);
  if (difference.IsConstant()) return;
  Interval interval = IntervalOf(op);
  if (op == BinaryOp::kNe) {  // says something only of an end of the range
    const Interval range = LinearBounds::Of(difference, *this);
    if (range.min == 0) interval.min = 1;
    if (range.max == 0) interval.max = -1;
  }
  if (interval == Interval()) return;
  const auto& [atom, coefficient] = difference.terms()[0];
  if (difference.terms().size() == 1 && atom->kind == ExprKind::kVar) {
    for (size_t i = variables_.size(); i-- > 0;) {
      if (!variables_[i].var.SameAs(atom)) continue;
      Interval& known = variables_[i].interval;
      known = Intersect(known, Solve(coefficient, difference.constant(), interval));
      return;
    }
  }
  facts_.push_back({std::move(difference), interval});
}

bool IsOfData(const Expr& e) {
  if (e->kind == ExprKind::kLoad) return true;
  const auto operands = e->operands.begin() + (e->kind == ExprKind::kSelect ? 1 : 0);
  return std::any_of(operands, e->operands.end(), IsOfData);
}

bool MayWrap(const Linear& linear, const Bounds& bounds) {
  const bool is_atom =
      linear.terms().size() == 1 && linear.terms()[0].coefficient == 1 && linear.constant() == 0;
  if (is_atom) return false;
  Interval sum = Interval::Point(linear.constant());
  for (const Linear::Term& term : linear.terms()) {
    if (IsOfData(term.atom)) sum = sum + OfAtom(term.atom, bounds) * term.coefficient;
  }
  return !IsBounded(sum);
}

Interval BoundsOf(const Linear& linear, const Bounds& bounds) {
  const Interval sum = LinearBounds::Of(linear, bounds);
  return IsBounded(sum) || !MayWrap(linear, bounds) ? sum : Interval();
}

Interval BoundsOf(const Expr& e, const Bounds& bounds) {
  const bool is_sum =
      e->kind == ExprKind::kBinary || (e->kind == ExprKind::kUnary && e->unary_op == UnaryOp::kNeg);
  if (e->dtype == DataType::kInt64 && is_sum) {
    const Linear linear = Linear::Of(e);
    const bool is_atom = linear.terms().size() == 1 && linear.terms()[0].atom.SameAs(e);
    if (!is_atom) return BoundsOf(linear, bounds);
  }
  return IsFloat(e->dtype) ? Interval() : OfAtom(e, bounds);
}

Interval BoundsOfDifference(const Expr& a, const Expr& b, const Bounds& bounds) {
  if (a->dtype != DataType::kInt64) return BoundsOf(a, bounds) - BoundsOf(b, bounds);
  const Linear x = Linear::Of(a);
  const Linear y = Linear::Of(b);
  Linear difference = x;
  difference.Add(y, -1);
  if (difference.IsConstant() && difference.constant() == 0) return Interval::Point(0);
  if (MayWrap(x, bounds) || MayWrap(y, bounds)) return {};
  return LinearBounds::Of(difference, bounds);
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
  return DecideComparison(op, BoundsOfDifference(a, b, bounds));
}

bool IsStable(const Expr& e) {
  if (e->kind == ExprKind::kLoad) {
    const BufferNode& buffer = *e->buffer;
    const bool only_read = buffer.role == Role::kInput || buffer.role == Role::kConstant;
    if (buffer.scope != Scope::kGlobal || !only_read) return false;
  }
  return std::all_of(e->operands.begin(), e->operands.end(), IsStable);
}

}  // namespace hone::loop
