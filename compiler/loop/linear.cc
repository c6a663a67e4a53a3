#include "compiler/loop/linear.h"

#include <algorithm>

namespace hone::loop {
namespace {

// Wrap around instead of overflowing: linear arithmetic is right modulo 2^64.
int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

Linear Linear::Atom(Expr atom, int64_t coefficient) {
  Linear linear;
  if (coefficient != 0) linear.terms_.push_back({std::move(atom), coefficient});
  return linear;
}

Linear Linear::Of(const Expr& e) {
  if (e->kind == ExprKind::kInt) return Linear(e->int_value);
  if (e->kind == ExprKind::kUnary && e->unary_op == UnaryOp::kNeg) {
    Linear linear = Of(e->operands[0]);
    linear.Scale(-1);
    return linear;
  }
  if (e->kind != ExprKind::kBinary) return Atom(e);
  switch (e->binary_op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub: {
      Linear linear = Of(e->operands[0]);
      linear.Add(Of(e->operands[1]), e->binary_op == BinaryOp::kAdd ? 1 : -1);
      return linear;
    }
    case BinaryOp::kMul: {
      Linear a = Of(e->operands[0]);
      Linear b = Of(e->operands[1]);
      if (a.IsConstant()) std::swap(a, b);
      if (!b.IsConstant()) return Atom(e);
      a.Scale(b.constant());
      return a;
    }
    default:
      return Atom(e);
  }
}

int64_t Linear::CoefficientOf(const Expr& atom) const {
  for (const Term& term : terms_) {
    if (StructuralEqual(term.atom, atom)) return term.coefficient;
  }
  return 0;
}

void Linear::Add(const Linear& other, int64_t factor) {
  if (factor == 0) return;
  for (const Term& term : other.terms_) AddTerm(term.atom, WrapMul(term.coefficient, factor));
  AddConstant(WrapMul(other.constant_, factor));
}

void Linear::AddTerm(const Expr& atom, int64_t coefficient) {
  if (coefficient == 0) return;
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (!StructuralEqual(terms_[i].atom, atom)) continue;
    terms_[i].coefficient = WrapAdd(terms_[i].coefficient, coefficient);
    if (terms_[i].coefficient == 0) terms_.erase(terms_.begin() + static_cast<ptrdiff_t>(i));
    return;
  }
  terms_.push_back({atom, coefficient});
}

void Linear::AddConstant(int64_t value) { constant_ = WrapAdd(constant_, value); }

void Linear::Scale(int64_t factor) {
  constant_ = WrapMul(constant_, factor);
  if (factor == 0) terms_.clear();
  for (Term& term : terms_) term.coefficient = WrapMul(term.coefficient, factor);
  std::erase_if(terms_, [](const Term& term) { return term.coefficient == 0; });
}

Expr Linear::ToExpr() const {
  Expr sum;
  for (const Term& term : terms_) {
    if (term.coefficient < 0) continue;
    Expr product = term.atom * IntConst(term.coefficient);
    sum = sum ? sum + product : product;
  }
  const bool constant_last = bool(sum);  // else it comes first: 10 - o * 4
  if (!sum) sum = IntConst(constant_);
  for (const Term& term : terms_) {
    if (term.coefficient < 0) sum = sum - term.atom * IntConst(WrapMul(term.coefficient, -1));
  }
  return constant_last ? sum + IntConst(constant_) : sum;
}

}  // namespace hone::loop
