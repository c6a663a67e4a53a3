#include "compiler/schedule/primitives/bounds.h"

#include <algorithm>
#include <numeric>

#include "compiler/loop/visit.h"

namespace hone::schedule {

using loop::BinaryOp;
using loop::Expr;
using loop::ExprKind;
using loop::ExprNode;
using loop::Stmt;
using loop::StmtKind;

namespace {

constexpr int64_t kInfinity = Interval::kInfinity;

int64_t Clamp(__int128 value) {
  if (value > kInfinity) return kInfinity;
  if (value < -kInfinity) return -kInfinity;
  return static_cast<int64_t>(value);
}

bool IsInfinite(int64_t value) { return value >= kInfinity || value <= -kInfinity; }

int64_t SaturatingAdd(int64_t a, int64_t b) {
  if (IsInfinite(a)) return a;
  if (IsInfinite(b)) return b;
  return Clamp(static_cast<__int128>(a) + b);
}

int64_t SaturatingMul(int64_t a, int64_t b) { return Clamp(static_cast<__int128>(a) * b); }

int64_t FloorDivInt(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t FloorModInt(int64_t a, int64_t b) { return a - FloorDivInt(a, b) * b; }

int64_t FloorDivBound(int64_t a, int64_t c) { return IsInfinite(a) ? a : FloorDivInt(a, c); }

bool IsIndex(const Expr& e) { return e->dtype == DataType::kInt64; }

bool IsBinary(const Expr& e, BinaryOp op) {
  return e->kind == ExprKind::kBinary && e->binary_op == op;
}

Linear OfAtom(Expr atom) {
  Linear linear;
  linear.terms.push_back({std::move(atom), 1});
  return linear;
}

Linear OfConstant(int64_t value) {
  Linear linear;
  linear.constant = value;
  return linear;
}

// x = c * quotient + rest, where rest holds what c does not divide, its constant in [0, c).
void SplitByDivisor(const Linear& x, int64_t c, Linear* quotient, Linear* rest) {
  for (const Linear::Term& term : x.terms) {
    if (term.coefficient % c == 0) {
      quotient->terms.push_back({term.atom, term.coefficient / c});
    } else {
      rest->terms.push_back(term);
    }
  }
  quotient->constant = FloorDivInt(x.constant, c);
  rest->constant = FloorModInt(x.constant, c);
}

int64_t GcdOfTerms(const Linear& x, int64_t c) {
  int64_t g = c;
  for (const Linear::Term& term : x.terms) g = std::gcd(g, term.coefficient);
  return g;
}

Linear DivideTerms(const Linear& x, int64_t g) {
  Linear result;
  for (const Linear::Term& term : x.terms)
    result.terms.push_back({term.atom, term.coefficient / g});
  result.constant = FloorDivInt(x.constant, g);
  return result;
}

Linear LinearFloorDiv(const Linear& x, int64_t c, const Ranges& ranges) {
  Linear result;
  Linear rest;
  SplitByDivisor(x, c, &result, &rest);
  const Interval bounds = BoundsOf(rest, ranges);
  if (!IsInfinite(bounds.low) && !IsInfinite(bounds.high) &&
      FloorDivInt(bounds.low, c) == FloorDivInt(bounds.high, c)) {
    result.constant += FloorDivInt(bounds.low, c);
    return result;
  }
  const int64_t g = GcdOfTerms(rest, c);
  if (g > 1) {  // (g * r + k) floordiv c with k < g
    rest = DivideTerms(rest, g);
    c /= g;
  }
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1 && rest.constant == 0 &&
      IsBinary(rest.terms[0].atom, BinaryOp::kFloorDiv)) {
    const Expr& inner = rest.terms[0].atom;
    int64_t inner_c = 0;
    if (loop::IsConstInt(inner->operands[1], &inner_c) && inner_c > 0) {
      result.Add(LinearFloorDiv(ToLinear(inner->operands[0], ranges), inner_c * c, ranges), 1);
      return result;
    }
  }
  result.Add(OfAtom(loop::FloorDiv(FromLinear(rest), c)), 1);
  return result;
}

Linear LinearFloorMod(const Linear& x, int64_t c, const Ranges& ranges) {
  Linear quotient;
  Linear rest;
  SplitByDivisor(x, c, &quotient, &rest);
  for (Linear::Term& term : rest.terms) {  // 17 * a mod 16 is a mod 16
    term.coefficient = FloorModInt(term.coefficient, c);
  }
  const Interval bounds = BoundsOf(rest, ranges);
  if (!IsInfinite(bounds.low) && !IsInfinite(bounds.high) &&
      FloorDivInt(bounds.low, c) == FloorDivInt(bounds.high, c)) {
    rest.constant -= FloorDivInt(bounds.low, c) * c;
    return rest;
  }
  const int64_t g = GcdOfTerms(rest, c);
  if (g > 1) {  // (g * r + k) mod c = g * (r mod (c / g)) + k with k < g
    const int64_t k = FloorModInt(rest.constant, g);
    Linear scaled;
    scaled.Add(LinearFloorMod(DivideTerms(rest, g), c / g, ranges), g);
    scaled.constant += k;
    return scaled;
  }
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1 && rest.constant == 0 &&
      IsBinary(rest.terms[0].atom, BinaryOp::kFloorMod)) {
    const Expr& inner = rest.terms[0].atom;
    int64_t inner_c = 0;
    if (loop::IsConstInt(inner->operands[1], &inner_c) && inner_c > 0 && inner_c % c == 0) {
      return LinearFloorMod(ToLinear(inner->operands[0], ranges), c, ranges);
    }
  }
  return OfAtom(loop::FloorMod(FromLinear(rest), c));
}

Linear LinearMinMax(BinaryOp op, const Linear& a, const Linear& b, const Ranges& ranges) {
  Linear difference = a;
  difference.Add(b, -1);
  const Interval bounds = BoundsOf(difference, ranges);
  const bool is_min = op == BinaryOp::kMin;
  if (bounds.high <= 0) return is_min ? a : b;
  if (bounds.low >= 0) return is_min ? b : a;
  return OfAtom(loop::Binary(op, FromLinear(a), FromLinear(b)));
}

Linear LinearOfBinary(const Expr& e, const Ranges& ranges) {
  const Linear a = ToLinear(e->operands[0], ranges);
  const Linear b = ToLinear(e->operands[1], ranges);
  Linear result = a;
  switch (e->binary_op) {
    case BinaryOp::kAdd:
      result.Add(b, 1);
      return result;
    case BinaryOp::kSub:
      result.Add(b, -1);
      return result;
    case BinaryOp::kMul:
      if (a.IsConstant() || b.IsConstant()) {
        Linear scaled;
        scaled.Add(a.IsConstant() ? b : a, a.IsConstant() ? a.constant : b.constant);
        return scaled;
      }
      break;
    case BinaryOp::kFloorDiv:
      if (b.IsConstant() && b.constant > 0) return LinearFloorDiv(a, b.constant, ranges);
      break;
    case BinaryOp::kFloorMod:
      if (b.IsConstant() && b.constant > 0) return LinearFloorMod(a, b.constant, ranges);
      break;
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return LinearMinMax(e->binary_op, a, b, ranges);
    default:
      break;
  }
  return OfAtom(loop::Binary(e->binary_op, FromLinear(a), FromLinear(b)));
}

// The interval of an atom that is no variable.
Interval BoundsOfAtom(const Expr& atom, const Ranges& ranges) {
  if (atom->kind == ExprKind::kVar) {
    const Ranges::Entry* entry = ranges.Find(atom.get());
    return entry == nullptr ? Interval() : entry->interval;
  }
  if (atom->kind == ExprKind::kSelect) {
    const Interval a = BoundsOf(atom->operands[1], ranges);
    const Interval b = BoundsOf(atom->operands[2], ranges);
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }
  if (atom->kind != ExprKind::kBinary) return {};
  int64_t c = 0;
  switch (atom->binary_op) {
    case BinaryOp::kMin:
    case BinaryOp::kMax: {
      const Interval a = BoundsOf(atom->operands[0], ranges);
      const Interval b = BoundsOf(atom->operands[1], ranges);
      if (atom->binary_op == BinaryOp::kMin) {
        return {std::min(a.low, b.low), std::min(a.high, b.high)};
      }
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case BinaryOp::kFloorDiv:
      if (loop::IsConstInt(atom->operands[1], &c) && c > 0) {
        const Interval a = BoundsOf(atom->operands[0], ranges);
        return {FloorDivBound(a.low, c), FloorDivBound(a.high, c)};
      }
      return {};
    case BinaryOp::kFloorMod:
      if (loop::IsConstInt(atom->operands[1], &c) && c > 0) return {0, c - 1};
      return {};
    default:
      return {};
  }
}

Interval PlainBounds(const Linear& linear, const Ranges& ranges) {
  Interval sum{linear.constant, linear.constant};
  for (const Linear::Term& term : linear.terms) {
    const Interval atom = BoundsOfAtom(term.atom, ranges);
    const int64_t a = SaturatingMul(atom.low, term.coefficient);
    const int64_t b = SaturatingMul(atom.high, term.coefficient);
    sum.low = SaturatingAdd(sum.low, std::min(a, b));
    sum.high = SaturatingAdd(sum.high, std::max(a, b));
  }
  return sum;
}

int64_t UpperBound(Linear linear, const Ranges& ranges, int depth);

// min(a, b) * k + rest <= the smaller of a * k + rest and b * k + rest for k > 0; so for max, k <
// 0.
std::optional<int64_t> UpperBoundByBranches(const Linear& linear, const Ranges& ranges, int depth) {
  for (size_t i = 0; i < linear.terms.size(); ++i) {
    const Linear::Term& term = linear.terms[i];
    const bool splits = (IsBinary(term.atom, BinaryOp::kMin) && term.coefficient > 0) ||
                        (IsBinary(term.atom, BinaryOp::kMax) && term.coefficient < 0);
    if (!splits) continue;
    Linear rest = linear;
    rest.terms.erase(rest.terms.begin() + static_cast<ptrdiff_t>(i));
    int64_t best = kInfinity;
    for (const Expr& side : term.atom->operands) {
      Linear branch = rest;
      branch.Add(ToLinear(side, ranges), term.coefficient);
      best = std::min(best, UpperBound(std::move(branch), ranges, depth - 1));
    }
    return best;
  }
  return std::nullopt;
}

// Puts the extreme values of variables with symbolic limits in their place, innermost first.
int64_t UpperBound(Linear linear, const Ranges& ranges, int depth) {
  const int64_t plain = PlainBounds(linear, ranges).high;
  if (depth <= 0) return plain;
  for (size_t i = ranges.entries().size(); i-- > 0;) {
    const Ranges::Entry& entry = ranges.entries()[i];
    if (!entry.symbolic_max && !entry.symbolic_min) continue;
    for (size_t t = 0; t < linear.terms.size(); ++t) {
      const Linear::Term term = linear.terms[t];
      if (!term.atom.SameAs(entry.var)) continue;
      const Expr& limit = term.coefficient > 0 ? entry.symbolic_max : entry.symbolic_min;
      if (!limit) break;
      linear.terms.erase(linear.terms.begin() + static_cast<ptrdiff_t>(t));
      linear.Add(ToLinear(limit, ranges), term.coefficient);
      break;
    }
  }
  if (const auto branched = UpperBoundByBranches(linear, ranges, depth)) {
    return std::min(plain, *branched);
  }
  return std::min(plain, PlainBounds(linear, ranges).high);
}

bool NeedsSymbolicBounds(const Linear& linear, const Ranges& ranges) {
  if (linear.terms.size() < 2) return false;
  for (const Linear::Term& term : linear.terms) {
    if (term.atom->kind != ExprKind::kVar) {
      if (IsBinary(term.atom, BinaryOp::kMin) || IsBinary(term.atom, BinaryOp::kMax)) return true;
      continue;
    }
    const Ranges::Entry* entry = ranges.Find(term.atom.get());
    if (entry != nullptr && (entry->symbolic_max || entry->symbolic_min)) return true;
  }
  return false;
}

}  // namespace

void Ranges::PushLoop(const loop::StmtNode& loop) {
  Entry entry;
  entry.var = loop.var;
  const Interval min = BoundsOf(loop.min, *this);
  Linear max = ToLinear(loop.min, *this);
  max.Add(ToLinear(loop.extent, *this), 1);
  max.constant -= 1;
  entry.interval = {min.low, std::max(min.low, BoundsOf(max, *this).high)};
  if (!max.IsConstant()) entry.symbolic_max = FromLinear(max);
  if (!loop::IsConstInt(loop.min)) entry.symbolic_min = loop.min;
  entries_.push_back(std::move(entry));
}

const Ranges::Entry* Ranges::Find(const ExprNode* var) const {
  for (size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].var.get() == var) return &entries_[i];
  }
  return nullptr;
}

void Linear::Add(const Linear& other, int64_t factor) {
  constant += other.constant * factor;
  for (const Term& term : other.terms) {
    const auto same = std::find_if(terms.begin(), terms.end(), [&](const Term& mine) {
      return loop::StructuralEqual(mine.atom, term.atom);
    });
    if (same == terms.end()) {
      if (factor * term.coefficient != 0) terms.push_back({term.atom, term.coefficient * factor});
      continue;
    }
    same->coefficient += term.coefficient * factor;
    if (same->coefficient == 0) terms.erase(same);
  }
}

Linear ToLinear(const Expr& e, const Ranges& ranges) {
  if (!IsIndex(e)) return OfAtom(e);
  switch (e->kind) {
    case ExprKind::kInt:
      return OfConstant(e->int_value);
    case ExprKind::kVar: {
      const Ranges::Entry* entry = ranges.Find(e.get());
      if (entry != nullptr && entry->interval.IsPoint()) return OfConstant(entry->interval.low);
      return OfAtom(e);
    }
    case ExprKind::kBinary:
      return LinearOfBinary(e, ranges);
    case ExprKind::kUnary:
      if (e->unary_op == loop::UnaryOp::kNeg) {
        Linear negated;
        negated.Add(ToLinear(e->operands[0], ranges), -1);
        return negated;
      }
      return OfAtom(e);
    default: {
      const Expr simple = Simplify(e, ranges);
      if (simple->kind == ExprKind::kSelect || simple.SameAs(e) || !IsIndex(simple)) {
        return OfAtom(simple);
      }
      return simple->kind == e->kind ? OfAtom(simple) : ToLinear(simple, ranges);
    }
  }
}

Expr FromLinear(const Linear& linear) {
  Expr sum;
  for (const Linear::Term& term : linear.terms) {
    if (term.coefficient < 0) continue;
    Expr scaled = term.atom * Expr(term.coefficient);
    sum = sum ? sum + scaled : scaled;
  }
  for (const Linear::Term& term : linear.terms) {
    if (term.coefficient > 0) continue;
    // Starts from the constant: 10 - o * 4.
    if (!sum) {
      sum = Expr(linear.constant) - term.atom * Expr(-term.coefficient);
      for (const Linear::Term& next : linear.terms) {
        if (&next != &term) sum = sum - next.atom * Expr(-next.coefficient);
      }
      return sum;
    }
    sum = sum - term.atom * Expr(-term.coefficient);
  }
  return sum ? sum + Expr(linear.constant) : Expr(linear.constant);
}

Interval BoundsOf(const Linear& linear, const Ranges& ranges) {
  if (linear.IsConstant()) return {linear.constant, linear.constant};
  if (!NeedsSymbolicBounds(linear, ranges)) return PlainBounds(linear, ranges);
  constexpr int kDepth = 4;
  Linear negated;
  negated.Add(linear, -1);
  const int64_t high = UpperBound(linear, ranges, kDepth);
  const int64_t low = -UpperBound(std::move(negated), ranges, kDepth);
  return {low, high};
}

Interval BoundsOf(const Expr& e, const Ranges& ranges) {
  return IsIndex(e) ? BoundsOf(ToLinear(e, ranges), ranges) : Interval();
}

std::optional<int64_t> ConstantDifference(const Expr& a, const Expr& b, const Ranges& ranges) {
  Linear difference = ToLinear(a, ranges);
  difference.Add(ToLinear(b, ranges), -1);
  if (!difference.IsConstant()) return std::nullopt;
  return difference.constant;
}

namespace {

std::optional<bool> DecideComparison(const Expr& e, const Ranges& ranges) {
  if (!IsIndex(e->operands[0])) return std::nullopt;
  Linear difference = ToLinear(e->operands[0], ranges);
  difference.Add(ToLinear(e->operands[1], ranges), -1);
  const Interval d = BoundsOf(difference, ranges);
  switch (e->binary_op) {
    case BinaryOp::kLt:
      if (d.high < 0) return true;
      if (d.low >= 0) return false;
      return std::nullopt;
    case BinaryOp::kLe:
      if (d.high <= 0) return true;
      if (d.low > 0) return false;
      return std::nullopt;
    case BinaryOp::kGt:
      if (d.low > 0) return true;
      if (d.high <= 0) return false;
      return std::nullopt;
    case BinaryOp::kGe:
      if (d.low >= 0) return true;
      if (d.high < 0) return false;
      return std::nullopt;
    case BinaryOp::kEq:
    case BinaryOp::kNe: {
      const bool equal = e->binary_op == BinaryOp::kEq;
      if (d.IsPoint() && d.low == 0) return equal;
      if (d.low > 0 || d.high < 0) return !equal;
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<bool> Decide(const Expr& condition, const Ranges& ranges) {
  if (condition->kind == ExprKind::kInt) return condition->int_value != 0;
  if (condition->kind == ExprKind::kUnary && condition->unary_op == loop::UnaryOp::kNot) {
    const std::optional<bool> inner = Decide(condition->operands[0], ranges);
    return inner ? std::optional<bool>(!*inner) : std::nullopt;
  }
  if (condition->kind != ExprKind::kBinary) return std::nullopt;
  const BinaryOp op = condition->binary_op;
  if ((op != BinaryOp::kAnd && op != BinaryOp::kOr) ||
      condition->operands[0]->dtype != DataType::kBool) {
    return DecideComparison(condition, ranges);
  }
  const std::optional<bool> a = Decide(condition->operands[0], ranges);
  const std::optional<bool> b = Decide(condition->operands[1], ranges);
  const bool decisive = op == BinaryOp::kOr;
  if ((a && *a == decisive) || (b && *b == decisive)) return decisive;
  if (a && b) return !decisive;
  return std::nullopt;
}

namespace {

Expr SimplifyCondition(const Expr& e, const Ranges& ranges) {
  if (const std::optional<bool> decided = Decide(e, ranges)) return loop::BoolConst(*decided);
  if (e->kind == ExprKind::kUnary) {
    return loop::Unary(e->unary_op, Simplify(e->operands[0], ranges));
  }
  Expr a = Simplify(e->operands[0], ranges);
  Expr b = Simplify(e->operands[1], ranges);
  if (a.SameAs(e->operands[0]) && b.SameAs(e->operands[1])) return e;
  return loop::Binary(e->binary_op, std::move(a), std::move(b));
}

}  // namespace

Expr Simplify(const Expr& e, const Ranges& ranges) {
  switch (e->kind) {
    case ExprKind::kInt:
    case ExprKind::kFloat:
      return e;
    case ExprKind::kVar: {
      const Ranges::Entry* entry = ranges.Find(e.get());
      return entry != nullptr && entry->interval.IsPoint() ? Expr(entry->interval.low) : e;
    }
    case ExprKind::kBinary:
      if (IsIndex(e)) {
        Expr simple = FromLinear(ToLinear(e, ranges));
        return loop::StructuralEqual(simple, e) ? e : simple;
      }
      if (e->dtype == DataType::kBool) return SimplifyCondition(e, ranges);
      break;
    case ExprKind::kUnary:
      if (e->dtype == DataType::kBool && e->unary_op == loop::UnaryOp::kNot) {
        return SimplifyCondition(e, ranges);
      }
      break;
    case ExprKind::kSelect:
      if (const std::optional<bool> decided = Decide(e->operands[0], ranges)) {
        return Simplify(e->operands[*decided ? 1 : 2], ranges);
      }
      break;
    default:
      break;
  }
  std::vector<Expr> operands;
  operands.reserve(e->operands.size());
  bool changed = false;
  for (const Expr& operand : e->operands) {
    operands.push_back(Simplify(operand, ranges));
    changed = changed || !operands.back().SameAs(operand);
  }
  if (!changed) return e;
  switch (e->kind) {
    case ExprKind::kLoad:
      return loop::Load(e->buffer, std::move(operands));
    case ExprKind::kUnary:
      return loop::Unary(e->unary_op, operands[0]);
    case ExprKind::kBinary:
      return loop::Binary(e->binary_op, operands[0], operands[1]);
    case ExprKind::kSelect:
      return loop::Select(operands[0], operands[1], operands[2]);
    default:
      return loop::Cast(e->dtype, operands[0]);
  }
}

namespace {

Stmt SimplifyLoop(const Stmt& s, Ranges& ranges) {
  Expr min = Simplify(s->min, ranges);
  Expr extent = Simplify(s->extent, ranges);
  int64_t count = 0;
  const bool constant = loop::IsConstInt(extent, &count);
  if (constant && count <= 0) return nullptr;
  if (constant && count == 1 && s->loop_kind != loop::LoopKind::kParallel) {
    if (loop::IsConstInt(min)) {
      loop::VarMap map;
      map[s->var.get()] = min;
      return Simplify(loop::Substitute(s->body[0], map), ranges);
    }
    loop::VarMap map;
    map[s->var.get()] = min;
    return Simplify(loop::Substitute(s->body[0], map), ranges);
  }
  ranges.PushLoop(*s);
  Stmt body = Simplify(s->body[0], ranges);
  ranges.Pop();
  if (body == nullptr) return nullptr;
  if (body == s->body[0] && min.SameAs(s->min) && extent.SameAs(s->extent)) return s;
  return loop::For(s->var, std::move(min), std::move(extent), std::move(body), s->loop_kind);
}

}  // namespace

Stmt Simplify(const Stmt& s, Ranges& ranges) {
  switch (s->kind) {
    case StmtKind::kFor:
      return SimplifyLoop(s, ranges);
    case StmtKind::kStore:
    case StmtKind::kPrefetch: {
      std::vector<Expr> indices;
      bool changed = false;
      for (const Expr& index : s->indices) {
        indices.push_back(Simplify(index, ranges));
        changed = changed || !indices.back().SameAs(index);
      }
      if (s->kind == StmtKind::kPrefetch) {
        return changed ? loop::Prefetch(s->buffer, std::move(indices), s->locality) : s;
      }
      Expr value = Simplify(s->value, ranges);
      if (!changed && value.SameAs(s->value)) return s;
      return loop::Store(s->buffer, std::move(indices), std::move(value));
    }
    case StmtKind::kSeq: {
      std::vector<Stmt> body;
      bool changed = false;
      for (const Stmt& child : s->body) {
        Stmt simple = Simplify(child, ranges);
        changed = changed || simple != child;
        if (simple != nullptr) body.push_back(std::move(simple));
      }
      if (body.empty()) return nullptr;
      return changed ? loop::Seq(std::move(body)) : s;
    }
    case StmtKind::kIf: {
      Expr condition = Simplify(s->condition, ranges);
      int64_t decided = 0;
      if (loop::IsConstInt(condition, &decided)) {
        if (decided != 0) return Simplify(s->body[0], ranges);
        return s->body.size() > 1 ? Simplify(s->body[1], ranges) : nullptr;
      }
      Stmt then = Simplify(s->body[0], ranges);
      Stmt otherwise = s->body.size() > 1 ? Simplify(s->body[1], ranges) : nullptr;
      if (then == nullptr && otherwise == nullptr) return nullptr;
      if (then == nullptr) {
        return loop::If(loop::Unary(loop::UnaryOp::kNot, condition), std::move(otherwise));
      }
      return loop::If(std::move(condition), std::move(then), std::move(otherwise));
    }
    case StmtKind::kWhile: {
      Stmt body = Simplify(s->body[0], ranges);
      if (body == nullptr) body = loop::Seq({});
      return loop::While(Simplify(s->condition, ranges), std::move(body));
    }
    case StmtKind::kAlloc: {
      Stmt body = Simplify(s->body[0], ranges);
      if (body == nullptr) return nullptr;
      return body == s->body[0] ? s : loop::Alloc(s->buffer, std::move(body));
    }
    default:
      return s;
  }
}

}  // namespace hone::schedule
