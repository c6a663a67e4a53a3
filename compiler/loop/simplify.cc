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
std::optional<int64_t> OneQuotient(const std::optional<Interval>& range, int64_t step) {
  if (!range || range->min > range->max) return std::nullopt;
  const int64_t quotient = FloorDivInt(range->min, step);
  return FloorDivInt(range->max, step) == quotient ? std::optional(quotient) : std::nullopt;
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
    // The key is kept alive: an address must not come back as another node.
    const auto it = done_.find(e.get());
    if (it != done_.end()) return it->second.second;
    Expr result = RunInner(e);
    if (StructuralEqual(result, e)) result = e;
    done_.emplace(e.get(), std::pair(e, result));
    return result;
  }

 private:
  Expr RunVar(const Expr& e) const {
    const auto it = bounds_.find(e.get());
    if (it == bounds_.end() || it->second.min != it->second.max) return e;
    return IntConst(it->second.min, e->dtype);
  }

  Expr RunInner(const Expr& e) {
    if (e->dtype == DataType::kInt64 && IsArithmetic(*e)) return Normalise(e).ToExpr();
    std::vector<Expr> operands;
    operands.reserve(e->operands.size());
    if (e->kind == ExprKind::kSelect) {
      Expr condition = Run(e->operands[0]);
      if (const auto truth = Decide(condition, bounds_)) return Run(e->operands[*truth ? 1 : 2]);
      return Select(condition, Run(e->operands[1]), Run(e->operands[2]));
    }
    for (const Expr& operand : e->operands) operands.push_back(Run(operand));
    switch (e->kind) {
      case ExprKind::kLoad:
        return Load(e->buffer, std::move(operands));
      case ExprKind::kUnary:
        return Unary(e->unary_op, operands[0]);
      case ExprKind::kBinary:
        return RunBinary(e->binary_op, operands[0], operands[1]);
      case ExprKind::kCast:
        return Cast(e->dtype, operands[0]);
      default:
        return e;
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

  // On simplified operands.
  Expr RunBinary(BinaryOp op, const Expr& a, const Expr& b) {
    if (GivesBool(op)) {
      Expr result = Binary(op, a, b);
      if (const auto truth = Decide(result, bounds_)) return BoolConst(*truth);
      if ((op == BinaryOp::kAnd || op == BinaryOp::kOr) && StructuralEqual(a, b)) return a;
      return result;
    }
    const bool extremum = op == BinaryOp::kMin || op == BinaryOp::kMax;
    if (extremum && !IsFloat(a->dtype)) {
      if (StructuralEqual(a, b)) return a;
      const bool min = op == BinaryOp::kMin;
      if (const auto first = Decide(Le(a, b), bounds_); first == true) return min ? a : b;
      if (const auto second = Decide(Le(b, a), bounds_); second == true) return min ? b : a;
    }
    return Binary(op, a, b);
  }

  Linear Normalise(const Expr& e) {
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
    const auto range = BoundsOf(a, bounds_);
    if (range && range->min >= 0) {  // truncation is the floor
      return op == BinaryOp::kDiv ? Quotient(a, divisor) : Remainder(a, divisor);
    }
    return Linear::Of(Binary(op, a.ToExpr(), IntConst(divisor)));
  }

  // floor(numerator / divisor).
  Linear Quotient(const Linear& numerator, int64_t divisor) {
    if (divisor == 1) return numerator;
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

  // floor((floor(x / a) + k) / b) = floor((x + k a) / (a b)); else the quotient as an atom.
  Linear NestedQuotient(const Linear& rest, int64_t divisor) {
    int64_t inner = 0;
    int64_t product = 0;
    int64_t shift = 0;
    if (rest.terms().size() == 1 && rest.terms()[0].coefficient == 1 &&
        IsDivision(rest.terms()[0].atom, BinaryOp::kFloorDiv, &inner) &&
        !__builtin_mul_overflow(inner, divisor, &product) &&
        !__builtin_mul_overflow(inner, rest.constant(), &shift)) {
      Linear x = Linear::Of(rest.terms()[0].atom->operands[0]);
      x.AddConstant(shift);
      return Quotient(x, product);
    }
    return Linear::Of(FloorDiv(rest.ToExpr(), IntConst(divisor)));
  }

  Linear Remainder(const Linear& numerator, int64_t divisor) {
    if (divisor == 1) return Linear(0);
    Linear rest = SplitBy(numerator, divisor).rest;
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
      return Remainder(x, divisor);
    }
    return Linear::Of(FloorMod(rest.ToExpr(), IntConst(divisor)));
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
      const Linear x = Linear::Of(remainder->operands[0]);
      const Linear quotient = Quotient(x, divisor);  // in the form it has in `linear`
      if (quotient.terms().size() != 1 || quotient.terms()[0].coefficient != 1 ||
          linear.CoefficientOf(quotient.terms()[0].atom) != wanted) {
        continue;
      }
      // x = divisor * (atom + constant) + remainder
      linear.AddTerm(quotient.terms()[0].atom, -wanted);
      linear.AddConstant(-wanted * quotient.constant());
      linear.AddTerm(remainder, -coefficient);
      linear.Add(x, coefficient);
      return Recombine(std::move(linear));
    }
    return linear;
  }

  const Bounds& bounds_;
  absl::flat_hash_map<const ExprNode*, std::pair<Expr, Expr>> done_;
};

bool IsEmpty(const Stmt& s) { return s->kind == StmtKind::kSeq && s->body.empty(); }

class StmtSimplifier {
 public:
  Stmt Run(const Stmt& s, const Bounds& bounds) {
    switch (s->kind) {
      case StmtKind::kFor:
        return RunFor(s, bounds);
      case StmtKind::kIf:
        return RunIf(s, bounds);
      case StmtKind::kSeq: {
        std::vector<Stmt> body;
        bool changed = false;
        for (const Stmt& child : s->body) {
          body.push_back(Run(child, bounds));
          changed |= body.back() != child;
        }
        return changed ? Seq(std::move(body)) : s;
      }
      case StmtKind::kAlloc: {
        Stmt body = Run(s->body[0], bounds);
        if (IsEmpty(body)) return body;
        return body == s->body[0] ? s : Alloc(s->buffer, body);
      }
      default:
        return RunLeaf(s, bounds);
    }
  }

 private:
  Stmt RunLeaf(const Stmt& s, const Bounds& bounds) {
    Simplifier simplifier(bounds);
    auto node = std::make_shared<StmtNode>(*s);
    bool changed = false;
    const auto simplify = [&](Expr& e) {
      if (!e) return;
      Expr result = simplifier.Run(e);
      changed |= !result.SameAs(e);
      e = std::move(result);
    };
    for (Expr& index : node->indices) simplify(index);
    simplify(node->value);
    simplify(node->condition);
    for (Stmt& child : node->body) {
      Stmt result = Run(child, bounds);
      changed |= result != child;
      child = std::move(result);
    }
    return changed ? node : s;
  }

  Stmt RunFor(const Stmt& s, const Bounds& bounds) {
    const Expr min = Simplify(s->min, bounds);
    const Expr extent = Simplify(s->extent, bounds);
    const auto trips = BoundsOf(extent, bounds);
    if (trips && trips->max <= 0) return Seq({});
    int64_t count = 0;
    // A minimum that was loaded stays a variable: the body may change what it was loaded from.
    if (IsConstInt(extent, &count) && count == 1 && s->loop_kind != LoopKind::kParallel &&
        !HasLoad(min)) {
      return Run(Substitute(s->body[0], VarMap{{s->var.get(), min}}), bounds);
    }
    Bounds inner = bounds;
    inner.erase(s->var.get());
    if (const auto range = LoopBounds(*s, bounds)) inner[s->var.get()] = *range;
    Stmt body = Run(s->body[0], inner);
    if (IsEmpty(body) && s->loop_kind != LoopKind::kParallel) return body;
    if (body == s->body[0] && min.SameAs(s->min) && extent.SameAs(s->extent)) return s;
    return For(s->var, min, extent, std::move(body), s->loop_kind);
  }

  Stmt RunIf(const Stmt& s, const Bounds& bounds) {
    const Expr condition = Simplify(s->condition, bounds);
    if (const auto truth = Decide(condition, bounds)) {
      if (*truth) return Run(s->body[0], bounds);
      return s->body.size() == 2 ? Run(s->body[1], bounds) : Seq({});
    }
    Bounds inside = bounds;
    Assume(condition, true, inside);
    Stmt then = Run(s->body[0], inside);
    Stmt otherwise;
    if (s->body.size() == 2) {
      inside = bounds;
      Assume(condition, false, inside);
      otherwise = Run(s->body[1], inside);
      if (IsEmpty(otherwise)) otherwise = nullptr;
    }
    if (IsEmpty(then) && otherwise == nullptr) return then;
    const Stmt old_otherwise = s->body.size() == 2 ? s->body[1] : nullptr;
    if (condition.SameAs(s->condition) && then == s->body[0] && otherwise == old_otherwise) {
      return s;
    }
    return If(condition, std::move(then), std::move(otherwise));
  }
};

}  // namespace

Expr Simplify(const Expr& e, const Bounds& bounds) { return Simplifier(bounds).Run(e); }

Stmt Simplify(const Stmt& s, const Bounds& bounds) { return StmtSimplifier().Run(s, bounds); }

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
