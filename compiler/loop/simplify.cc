#include "compiler/loop/simplify.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/scalar.h"
#include "compiler/loop/visit.h"

namespace hone::loop {
namespace {

// The one multiple n of `step` with n * step <= value < (n + 1) * step for all values, if any.
std::optional<int64_t> OneQuotient(const Interval& range, int64_t step) {
  if (range.IsEmpty() || !range.HasMin() || !range.HasMax()) return std::nullopt;
  const int64_t quotient = FloorDivInt(range.min, step);
  return FloorDivInt(range.max, step) == quotient ? std::optional(quotient) : std::nullopt;
}

// numerator = multiple * divisor + rest, where `rest` holds the terms that do not divide.
struct Parts {
  Linear multiple;
  Linear rest;
};

Parts SplitBy(const Linear& numerator, int64_t divisor) {
  Parts parts;
  for (const auto& [atom, coefficient] : numerator.terms()) {
    if (coefficient % divisor == 0) {
      parts.multiple.AddTerm(atom, coefficient / divisor);
    } else {
      parts.rest.AddTerm(atom, coefficient);
    }
  }
  parts.multiple.AddConstant(FloorDivInt(numerator.constant(), divisor));
  parts.rest.AddConstant(FloorModInt(numerator.constant(), divisor));
  return parts;
}

// The factors of `divisor` by which some terms divide, largest first.
std::vector<int64_t> CommonFactors(const Linear& linear, int64_t divisor) {
  std::set<int64_t, std::greater<>> factors;
  for (const auto& term : linear.terms()) {
    const int64_t factor = std::gcd(term.coefficient, divisor);
    if (factor > 1 && factor < divisor) factors.insert(factor);
  }
  return {factors.begin(), factors.end()};
}

// floordiv(x, c) or floormod(x, c) with a positive constant c.
bool IsDivision(const Expr& e, BinaryOp op, int64_t* divisor) {
  return e->kind == ExprKind::kBinary && e->binary_op == op && e->dtype == DataType::kInt64 &&
         IsConstInt(e->operands[1], divisor) && *divisor > 0;
}

class Simplifier {
 public:
  explicit Simplifier(const Bounds& bounds) : bounds_(bounds) {}

  Expr Run(const Expr& e) {
    if (e->kind == ExprKind::kInt || e->kind == ExprKind::kFloat) return e;
    if (e->kind == ExprKind::kVar) return RunVar(e);
    // Expressions are DAGs: what is used twice is simplified once.
    if (!e.IsShared()) return RunInner(e);
    if (const auto it = done_.find(e.get()); it != done_.end()) return it->second;
    Expr result = RunInner(e);
    return done_.try_emplace(e.get(), std::move(result)).first->second;
  }

  Linear Form(const Expr& e) {
    return e->dtype == DataType::kInt64 ? Normalise(e) : Linear::Atom(Run(e));
  }

 private:
  Expr RunVar(const Expr& e) const {
    const Bounds::Variable* known = bounds_.Find(e.get());
    // A condition that one lane of a vector meets says nothing of the others: they stay a vector.
    if (known == nullptr || known->is_lane || !known->interval.IsPoint()) return e;
    return IntConst(known->interval.min, e->dtype);
  }

  Expr RunInner(const Expr& e) {
    if (e->dtype == DataType::kInt64 && IsArithmetic(*e)) {
      Expr result = Normalise(e).ToExpr();
      return StructuralEqual(result, e) ? e : result;
    }
    std::vector<Expr> operands;
    operands.reserve(e->operands.size());
    bool changed = false;
    for (const Expr& operand : e->operands) {
      operands.push_back(Run(operand));
      changed |= !operands.back().SameAs(operand);
      if (e->kind != ExprKind::kSelect || operands.size() > 1) continue;
      if (const auto truth = Decide(operands[0], bounds_)) return Run(e->operands[*truth ? 1 : 2]);
    }
    const Expr result = changed ? WithOperands(*e, std::move(operands)) : e;
    return result->kind == ExprKind::kBinary ? Decided(result) : result;
  }

  static Expr WithOperands(const ExprNode& e, std::vector<Expr> operands) {
    switch (e.kind) {
      case ExprKind::kLoad:
        return Load(e.buffer, std::move(operands));
      case ExprKind::kUnary:
        return Unary(e.unary_op, operands[0]);
      case ExprKind::kBinary:
        return Binary(e.binary_op, operands[0], operands[1]);
      case ExprKind::kSelect:
        return Select(operands[0], operands[1], operands[2]);
      default:
        return Cast(e.dtype, operands[0]);
    }
  }

  static bool IsArithmetic(const ExprNode& e) {
    if (e.kind == ExprKind::kUnary) return e.unary_op == UnaryOp::kNeg;
    if (e.kind != ExprKind::kBinary) return false;
    return e.binary_op == BinaryOp::kAdd || e.binary_op == BinaryOp::kSub ||
           e.binary_op == BinaryOp::kMul || e.binary_op == BinaryOp::kDiv ||
           e.binary_op == BinaryOp::kMod || e.binary_op == BinaryOp::kFloorDiv ||
           e.binary_op == BinaryOp::kFloorMod;
  }

  // The outcome where the ranges of the operands, which are simplified, say it.
  Expr Decided(const Expr& e) const {
    const BinaryOp op = e->binary_op;
    const Expr& a = e->operands[0];
    const Expr& b = e->operands[1];
    if (GivesBool(op)) {
      const bool connective = op == BinaryOp::kAnd || op == BinaryOp::kOr;
      if (connective && StructuralEqual(a, b)) return a;
      const auto truth = Decide(e, bounds_);
      return truth ? BoolConst(*truth) : WithoutRemainder(e);
    }
    if ((op != BinaryOp::kMin && op != BinaryOp::kMax) || IsFloat(a->dtype)) return e;
    const Interval difference = BoundsOfDifference(a, b, bounds_);
    if (difference.max <= 0) return op == BinaryOp::kMin ? a : b;
    if (difference.min >= 0) return op == BinaryOp::kMin ? b : a;
    return e;
  }

  // Operands are simplified. 16 a + b < 128 becomes a < 8 where 0 <= b < 16: then all lanes b of a
  // vector agree.
  Expr WithoutRemainder(const Expr& e) const {
    const BinaryOp op = e->binary_op;
    const bool less = op == BinaryOp::kLt || op == BinaryOp::kLe;
    if (!less && op != BinaryOp::kGt && op != BinaryOp::kGe) return e;
    if (e->operands[0]->dtype != DataType::kInt64) return e;
    Linear difference = Linear::Of(e->operands[less ? 0 : 1]);  // e says that it is below zero
    const Linear limit = Linear::Of(e->operands[less ? 1 : 0]);
    if (MayWrap(difference, bounds_) || MayWrap(limit, bounds_)) return e;
    difference.Add(limit, -1);
    if (op == BinaryOp::kLe || op == BinaryOp::kGe) difference.AddConstant(-1);
    std::set<int64_t, std::greater<>> factors;
    for (const auto& term : difference.terms()) {
      if (term.coefficient > 1) factors.insert(term.coefficient);
      if (term.coefficient < -1) factors.insert(-term.coefficient);
    }
    for (const int64_t factor : factors) {
      auto [multiple, rest] = SplitBy(difference, factor);
      if (rest.terms().empty()) continue;
      const auto whole = OneQuotient(BoundsOf(rest, bounds_), factor);
      if (!whole) continue;
      const int64_t below = -(multiple.constant() + *whole);
      multiple.AddConstant(-multiple.constant());
      if (less) return Binary(BinaryOp::kLt, multiple.ToExpr(), IntConst(below));
      multiple.Scale(-1);
      return Binary(BinaryOp::kGe, multiple.ToExpr(), IntConst(1 - below));
    }
    return e;
  }

  Linear Normalise(const Expr& e) {
    if (e->kind == ExprKind::kInt) return Linear(e->int_value);
    if (e->dtype != DataType::kInt64 || !IsArithmetic(*e)) return Linear::Of(Run(e));
    Linear a = Normalise(e->operands[0]);
    if (e->kind == ExprKind::kUnary) {
      a.Scale(-1);
      return a;
    }
    Linear b = Normalise(e->operands[1]);
    switch (e->binary_op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
        a.Add(b, e->binary_op == BinaryOp::kAdd ? 1 : -1);
        return Recombine(std::move(a));
      case BinaryOp::kMul:
        if (a.IsConstant()) std::swap(a, b);
        if (!b.IsConstant()) break;
        a.Scale(b.constant());
        return a;
      default:
        if (b.IsConstant() && b.constant() > 0) return Divide(e->binary_op, a, b.constant());
        break;
    }
    return Linear::Atom(Binary(e->binary_op, a.ToExpr(), b.ToExpr()));
  }

  Linear Divide(BinaryOp op, const Linear& a, int64_t divisor) {
    if (op == BinaryOp::kFloorDiv) return Quotient(a, divisor);
    if (op == BinaryOp::kFloorMod) return Remainder(a, divisor);
    if (BoundsOf(a, bounds_).min >= 0) {  // truncation is the floor
      return op == BinaryOp::kDiv ? Quotient(a, divisor) : Remainder(a, divisor);
    }
    return Linear::Of(Binary(op, a.ToExpr(), IntConst(divisor)));
  }

  // floor(numerator / divisor).
  Linear Quotient(const Linear& numerator, int64_t divisor) {
    if (divisor == 1) return numerator;
    if (MayWrap(numerator, bounds_)) {
      return Linear::Of(FloorDiv(numerator.ToExpr(), IntConst(divisor)));
    }
    auto [result, rest] = SplitBy(numerator, divisor);
    if (const auto whole = OneQuotient(BoundsOf(rest, bounds_), divisor)) {
      result.AddConstant(*whole);
      return result;
    }
    // floor((g x + y) / (g m)) = floor((x + n) / m) where n g <= y < (n + 1) g.
    for (const int64_t factor : CommonFactors(rest, divisor)) {
      auto [x, y] = SplitBy(rest, factor);
      const auto whole = OneQuotient(BoundsOf(y, bounds_), factor);
      if (!whole) continue;
      x.AddConstant(*whole);
      result.Add(Quotient(x, divisor / factor));
      return result;
    }
    result.Add(NestedQuotient(rest, divisor));
    return result;
  }

  // floor(floor(x / a) / b) = floor(x / (a b)); else the quotient as an atom.
  Linear NestedQuotient(const Linear& rest, int64_t divisor) {
    int64_t inner = 0;
    int64_t product = 0;
    if (rest.terms().size() == 1 && rest.terms()[0].coefficient == 1 && rest.constant() == 0 &&
        IsDivision(rest.terms()[0].atom, BinaryOp::kFloorDiv, &inner) &&
        !__builtin_mul_overflow(inner, divisor, &product)) {
      return Quotient(Linear::Of(rest.terms()[0].atom->operands[0]), product);
    }
    return Linear::Of(FloorDiv(rest.ToExpr(), IntConst(divisor)));
  }

  // 17 a mod 16 is a mod 16.
  static Linear Reduced(const Linear& x, int64_t divisor) {
    Linear reduced(x.constant());
    for (const auto& [atom, coefficient] : x.terms()) {
      reduced.AddTerm(atom, coefficient % divisor);
    }
    return reduced;
  }

  Linear Remainder(const Linear& numerator, int64_t divisor) {
    if (divisor == 1) return Linear(0);
    if (MayWrap(numerator, bounds_)) {
      return Linear::Of(FloorMod(numerator.ToExpr(), IntConst(divisor)));
    }
    Linear rest = Reduced(SplitBy(numerator, divisor).rest, divisor);
    if (const auto whole = OneQuotient(BoundsOf(rest, bounds_), divisor)) {
      rest.AddConstant(-*whole * divisor);
      return rest;
    }
    // (g x + y) mod (g m) = g ((x + n) mod m) + y - n g where n g <= y < (n + 1) g.
    for (const int64_t factor : CommonFactors(rest, divisor)) {
      auto [x, y] = SplitBy(rest, factor);
      const auto whole = OneQuotient(BoundsOf(y, bounds_), factor);
      if (!whole) continue;
      x.AddConstant(*whole);
      y.AddConstant(-*whole * factor);
      y.Add(Remainder(x, divisor / factor), factor);
      return y;
    }
    int64_t inner = 0;  // (x mod a) mod b = x mod b where b divides a
    if (rest.terms().size() == 1 && rest.terms()[0].coefficient == 1 &&
        IsDivision(rest.terms()[0].atom, BinaryOp::kFloorMod, &inner) && inner % divisor == 0) {
      Linear x = Linear::Of(rest.terms()[0].atom->operands[0]);
      x.AddConstant(rest.constant());
      if (rest.constant() == 0 || !MayWrap(x, bounds_)) return Remainder(x, divisor);
    }
    return Linear::Of(FloorMod(rest.ToExpr(), IntConst(divisor)));
  }

  // A term that is the quotient of `dividend`.
  struct Division {
    Expr quotient;
    Linear dividend;
  };

  // The quotient, `factor` times in `linear`, of x or of another number with its remainder.
  std::optional<Division> QuotientIn(const Linear& linear, const Linear& x, int64_t divisor,
                                     int64_t factor) {
    const Linear whole = Quotient(x, divisor);  // in the form it has in `linear`
    if (whole.terms().size() == 1 && whole.terms()[0].coefficient == 1 &&
        linear.CoefficientOf(whole.terms()[0].atom) == factor) {
      Linear dividend = x;
      dividend.AddConstant(-divisor * whole.constant());
      return Division{whole.terms()[0].atom, dividend};
    }
    // Remainders are simplified further than quotients (Reduced).
    for (const auto& [quotient, coefficient] : linear.terms()) {
      int64_t other = 0;
      if (coefficient != factor || !IsDivision(quotient, BinaryOp::kFloorDiv, &other) ||
          other != divisor) {
        continue;
      }
      const Linear y = Linear::Of(quotient->operands[0]);
      Linear difference = y;
      difference.Add(x, -1);
      const Linear rest = SplitBy(difference, divisor).rest;
      const bool divides = rest.terms().empty() && rest.constant() == 0;
      if (divides && !MayWrap(x, bounds_) && !MayWrap(y, bounds_)) return Division{quotient, y};
    }
    return std::nullopt;
  }

  // k c (x floordiv c) + k (x floormod c) is k x.
  Linear Recombine(Linear linear) {
    for (size_t i = 0; i < linear.terms().size(); ++i) {
      const auto [remainder, coefficient] = linear.terms()[i];
      int64_t divisor = 0;
      int64_t wanted = 0;
      if (!IsDivision(remainder, BinaryOp::kFloorMod, &divisor) ||
          __builtin_mul_overflow(coefficient, divisor, &wanted)) {
        continue;
      }
      const auto division = QuotientIn(linear, Linear::Of(remainder->operands[0]), divisor, wanted);
      if (!division) continue;
      // dividend = divisor * quotient + remainder
      linear.AddTerm(division->quotient, -wanted);
      linear.AddTerm(remainder, -coefficient);
      linear.Add(division->dividend, coefficient);
      return Recombine(std::move(linear));
    }
    return linear;
  }

  const Bounds& bounds_;
  // Keys are parts of what is simplified, or of values here: none is freed before this is.
  absl::flat_hash_map<const ExprNode*, Expr> done_;
};

class StmtSimplifier {
 public:
  explicit StmtSimplifier(Bounds bounds) : bounds_(std::move(bounds)) {}

  Stmt Run(const Stmt& s) {
    switch (s->kind) {
      case StmtKind::kFor:
        return RunFor(s);
      case StmtKind::kIf:
        return RunIf(s);
      case StmtKind::kSeq: {
        std::vector<Stmt> body;
        bool changed = false;
        for (const Stmt& child : s->body) {
          body.push_back(Run(child));
          changed |= body.back() != child;
        }
        return changed ? Seq(std::move(body)) : s;
      }
      case StmtKind::kAlloc: {
        Stmt body = Run(s->body[0]);
        if (IsEmpty(body)) return body;
        return body == s->body[0] ? s : Alloc(s->buffer, body);
      }
      default:
        return RunOther(s);
    }
  }

 private:
  Stmt RunOther(const Stmt& s) {
    Simplifier simplifier(bounds_);
    std::shared_ptr<StmtNode> copy;
    const auto changed = [&]() -> StmtNode& {
      if (copy == nullptr) copy = std::make_shared<StmtNode>(*s);
      return *copy;
    };
    for (size_t i = 0; i < s->indices.size(); ++i) {
      Expr index = simplifier.Run(s->indices[i]);
      if (!index.SameAs(s->indices[i])) changed().indices[i] = std::move(index);
    }
    for (Expr StmtNode::* const member : {&StmtNode::value, &StmtNode::condition}) {
      if (!((*s).*member)) continue;
      Expr e = simplifier.Run((*s).*member);
      if (!e.SameAs((*s).*member)) changed().*member = std::move(e);
    }
    for (size_t i = 0; i < s->body.size(); ++i) {
      Stmt child = Run(s->body[i]);
      if (child != s->body[i]) changed().body[i] = std::move(child);
    }
    return copy != nullptr ? copy : s;
  }

  // The grid and its threads stay, of one iteration too: what a launch does in none of its threads
  // cannot be lowered.
  static bool IsOfGrid(const StmtNode& s) {
    return s.loop_kind == LoopKind::kParallel || s.loop_kind == LoopKind::kThread;
  }

  Stmt RunFor(const Stmt& s) {
    const Expr min = Simplify(s->min, bounds_);
    const Expr extent = Simplify(s->extent, bounds_);
    if (BoundsOf(extent, bounds_).max <= 0) return Seq({});
    if (IsInt(extent, 1) && !IsOfGrid(*s) && IsStable(min)) {
      return Run(Substitute(s->body[0], VarMap{{s->var.get(), min}}));
    }
    bounds_.PushLoop(*s);
    Stmt body = Run(s->body[0]);
    bounds_.Pop();
    if (IsEmpty(body) && !IsOfGrid(*s)) return body;
    if (body == s->body[0] && min.SameAs(s->min) && extent.SameAs(s->extent)) return s;
    return For(s->var, min, extent, std::move(body), s->loop_kind);
  }

  Stmt RunIf(const Stmt& s) {
    const Expr condition = Simplify(s->condition, bounds_);
    const bool has_otherwise = s->body.size() == 2;
    if (const auto truth = Decide(condition, bounds_)) {
      if (*truth) return Run(s->body[0]);
      return has_otherwise ? Run(s->body[1]) : Seq({});
    }
    const Stmt then = RunUnder(condition, true, s->body[0]);
    const Stmt otherwise = has_otherwise ? RunUnder(condition, false, s->body[1]) : Seq({});
    if (IsEmpty(then)) {
      return IsEmpty(otherwise) ? then : If(Unary(UnaryOp::kNot, condition), otherwise);
    }
    const bool same = condition.SameAs(s->condition) && then == s->body[0];
    if (same && (!has_otherwise || otherwise == s->body[1])) return s;
    return If(condition, then, IsEmpty(otherwise) ? nullptr : otherwise);
  }

  Stmt RunUnder(const Expr& condition, bool truth, const Stmt& s) {
    Bounds inside = bounds_;
    inside.Assume(condition, truth);
    return StmtSimplifier(std::move(inside)).Run(s);
  }

  Bounds bounds_;
};

}  // namespace

Expr Simplify(const Expr& e, const Bounds& bounds) { return Simplifier(bounds).Run(e); }

Linear LinearForm(const Expr& e, const Bounds& bounds) {
  if (e->kind == ExprKind::kInt) return Linear(e->int_value);
  return Simplifier(bounds).Form(e);
}

Stmt Simplify(const Stmt& s, const Bounds& bounds) { return StmtSimplifier(bounds).Run(s); }

Stmt Simplify(const Stmt& s) { return Simplify(s, Bounds()); }

Nest Simplify(const Nest& nest) {
  Nest result = nest;
  for (Launch& launch : result.launches) launch.body = Simplify(launch.body);
  return result;
}

Expr PhysicalOffset(const BufferNode& buffer, const std::vector<Expr>& indices,
                    const Bounds& bounds) {
  const std::vector<Layout::Dim>& dims = buffer.layout.dims();
  const std::vector<int64_t> physical = buffer.layout.PhysicalShape(buffer.shape);
  std::vector<Expr> rest = indices;
  Expr offset = 0;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {  // innermost first: blocks divide what is left
    Expr& index = rest[static_cast<size_t>(dims[i].axis)];
    if (dims[i].factor == 0) {
      offset = offset + index * IntConst(stride);
    } else {
      offset = offset + FloorMod(index, IntConst(dims[i].factor)) * IntConst(stride);
      index = FloorDiv(index, IntConst(dims[i].factor));
    }
    stride *= physical[i];
  }
  return Simplify(offset, bounds);
}

}  // namespace hone::loop
