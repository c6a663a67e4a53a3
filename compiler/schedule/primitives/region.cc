#include "compiler/schedule/primitives/region.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "compiler/loop/extreme.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"

namespace hone::schedule {

using loop::BinaryOp;
using loop::Bounds;
using loop::Expr;
using loop::ExprKind;
using loop::Linear;
using loop::Stmt;
using loop::StmtKind;

namespace {

bool UsesInner(const Expr& e, const Bounds& bounds, size_t kept) {
  if (e->kind == ExprKind::kVar) {
    for (size_t i = kept; i < bounds.variables().size(); ++i) {
      if (bounds.variables()[i].var.SameAs(e)) return true;
    }
    return false;
  }
  for (const Expr& operand : e->operands) {
    if (UsesInner(operand, bounds, kept)) return true;
  }
  return false;
}

// The extreme over the variables after the first `kept`, as an expression of the others.
class InnerExtreme {
 public:
  using Result = std::optional<Linear>;
  InnerExtreme(const Bounds& bounds, size_t kept, bool largest, int depth)
      : bounds_(bounds), kept_(kept), largest_(largest), depth_(depth) {}

  bool IsChoice(const Linear::Term& term) const { return UsesInner(term.atom, bounds_, kept_); }
  Linear Form(const Expr& e) const { return LinearForm(e, bounds_); }

  // Opaque terms first: they may hold inner variables of any depth. Those that the limit of a
  // variable brings in are taken apart before other variables, to keep what relates them.
  bool Replace(Linear* x) {
    for (const Linear::Term& term : x->terms()) {
      if (term.atom->kind == ExprKind::kVar || !UsesInner(term.atom, bounds_, kept_)) continue;
      return Put(x, Linear::Term(term), OfAtom(term.atom, largest_ == (term.coefficient > 0)));
    }
    for (size_t i = bounds_.variables().size(); i-- > kept_;) {
      const Bounds::Variable& known = bounds_.variables()[i];
      const int64_t coefficient = x->CoefficientOf(known.var);
      if (coefficient == 0) continue;
      return Put(x, {known.var, coefficient}, OfVariable(known, largest_ == (coefficient > 0)));
    }
    return false;
  }

  Result Leaf(const Linear& x) const { return is_known_ ? Result(x) : std::nullopt; }
  static Result Unresolved(const Linear&) { return std::nullopt; }
  Result Join(BinaryOp op, const Result& a, const Result& b) const {
    if (!a || !b) return std::nullopt;
    return LinearForm(loop::Binary(op, a->ToExpr(), b->ToExpr()), bounds_);
  }
  static Result Tighten(const Linear&, Result result) { return result; }

 private:
  // False where there is no extreme: the search ends.
  bool Put(Linear* x, const Linear::Term& old, const Result& extreme) {
    is_known_ &= extreme.has_value();
    if (!extreme) return false;
    x->AddTerm(old.atom, -old.coefficient);
    x->Add(*extreme, old.coefficient);
    return true;
  }

  Result OfVariable(const Bounds::Variable& known, bool largest) const {
    const Expr& limit = largest ? known.max : known.min;
    if (limit) return LinearForm(limit, bounds_);
    if (!(largest ? known.interval.HasMax() : known.interval.HasMin())) return std::nullopt;
    return Linear(largest ? known.interval.max : known.interval.min);
  }

  // The extreme of an atom that is no variable and uses inner ones.
  Result OfAtom(const Expr& atom, bool largest) const {
    if (atom->kind != ExprKind::kBinary || depth_ <= 0) return std::nullopt;
    const BinaryOp op = atom->binary_op;
    int64_t c = 0;
    if (op == BinaryOp::kFloorMod && loop::IsConstInt(atom->operands[1], &c) && c > 0) {
      return Linear(largest ? c - 1 : 0);
    }
    const auto extreme = [&](const Expr& e) {
      InnerExtreme inner(bounds_, kept_, largest, depth_ - 1);
      return ExtremeOf(LinearForm(e, bounds_), inner, depth_ - 1);
    };
    const Result a = extreme(atom->operands[0]);
    const Result b = extreme(atom->operands[1]);
    if (!a || !b) return std::nullopt;
    if (op != BinaryOp::kFloorDiv || !b->IsConstant() || b->constant() <= 0) return std::nullopt;
    return LinearForm(loop::Binary(op, a->ToExpr(), b->ToExpr()), bounds_);
  }

  const Bounds& bounds_;
  const size_t kept_;
  const bool largest_;
  const int depth_;
  bool is_known_ = true;
};

}  // namespace

std::optional<Linear> Extreme(const Linear& x, const Bounds& bounds, size_t kept, bool largest) {
  constexpr int kDepth = 8;
  InnerExtreme search(bounds, kept, largest, kDepth);
  return ExtremeOf(x, search, kDepth);
}

namespace {

class RegionReader {
 public:
  RegionReader(const loop::Buffer& buffer, const Bounds& outer, bool with_stores)
      : buffer_(buffer),
        bounds_(outer),
        kept_(outer.variables().size()),
        with_stores_(with_stores) {}

  void Visit(const Stmt& s) {
    loop::ForEachExpr(*s, [&](const Expr& e) { VisitExpr(e); });
    if (with_stores_ && s->kind == StmtKind::kStore && s->buffer == buffer_) AddAccess(s->indices);
    if (s->kind == StmtKind::kFor) around_.push_back(s.get());
    for (const Stmt& child : s->body) Visit(child);
    if (s->kind == StmtKind::kFor) Leave();
  }
  Region Take() {
    for (size_t d = 0; d < region_.dims.size(); ++d) {
      region_.dims[d].step = std::max<int64_t>(1, steps_[d].step);
    }
    return std::move(region_);
  }

 private:
  Region::Dim DimOf(const Expr& index, size_t d) {
    const Linear linear = LinearForm(index, bounds_);
    const auto low = Extreme(linear, bounds_, kept_, false);
    const auto high = Extreme(linear, bounds_, kept_, true);
    AddStep(linear, d);
    if (low && high) return {*low, *high};
    steps_[d].step = 1;
    return {Linear(), Linear(buffer_->shape[d] - 1)};
  }

  // What the indices read have in common: a part that is fixed in the region and multiples of a
  // step.
  void AddStep(const Linear& index, size_t d) {
    Linear fixed(index.constant());
    int64_t step = 0;
    for (const Linear::Term& term : index.terms()) {
      if (UsesInner(term.atom, bounds_, kept_)) {
        step = std::gcd(step, term.coefficient);
      } else {
        fixed.AddTerm(term.atom, term.coefficient);
      }
    }
    if (steps_.size() <= d) {
      steps_.push_back({std::move(fixed), step});
      return;
    }
    Steps& known = steps_[d];
    fixed.Add(known.fixed, -1);
    known.step = fixed.IsConstant() ? std::gcd(std::gcd(known.step, step), fixed.constant()) : 1;
  }

  // The smaller (larger) of two bounds, as an expression if need be.
  Linear Join(const Linear& a, const Linear& b, BinaryOp op) {
    return LinearForm(loop::Binary(op, a.ToExpr(), b.ToExpr()), bounds_);
  }

  void AddAccess(const std::vector<Expr>& indices) {
    Enter();
    for (size_t d = 0; d < indices.size(); ++d) {
      const Expr& index = indices[d];
      if (!seen_.emplace(index.get(), d).second) continue;
      Region::Dim dim = DimOf(index, d);
      if (region_.accesses == 0) {
        region_.dims.push_back(std::move(dim));
        continue;
      }
      region_.dims[d].low = Join(region_.dims[d].low, dim.low, BinaryOp::kMin);
      region_.dims[d].high = Join(region_.dims[d].high, dim.high, BinaryOp::kMax);
    }
    ++region_.accesses;
  }

  void VisitExpr(const Expr& e) {
    if ((e->uses & loop::UseBit(buffer_.get())) == 0) return;
    if (e->kind == ExprKind::kLoad && e->buffer == buffer_) AddAccess(e->operands);
    for (const Expr& operand : e->operands) VisitExpr(operand);
  }

  // Most loops have no accesses to the buffer in them: what bounds they have is asked where there
  // are.
  void Enter() {
    if (entered_ < around_.size()) seen_.clear();
    while (entered_ < around_.size()) bounds_.PushLoop(*around_[entered_++]);
  }
  void Leave() {
    if (entered_ == around_.size()) {
      bounds_.Pop();
      seen_.clear();
      --entered_;
    }
    around_.pop_back();
  }

  const loop::Buffer& buffer_;
  Bounds bounds_;
  std::vector<const loop::StmtNode*> around_;  // loops, outermost first
  size_t entered_ = 0;                         // how many of them `bounds_` has
  size_t kept_;
  bool with_stores_;
  Region region_;
  struct Steps {
    Linear fixed;
    int64_t step = 0;
  };
  std::vector<Steps> steps_;  // a dimension
  // Indices that the region has within the loops around: accesses of one statement share most of
  // theirs.
  absl::flat_hash_set<std::pair<const loop::ExprNode*, size_t>> seen_;
};

}  // namespace

Region RegionRead(const Stmt& body, const loop::Buffer& buffer, const Bounds& outer) {
  RegionReader reader(buffer, outer, /*with_stores=*/false);
  reader.Visit(body);
  return reader.Take();
}

Region RegionTouched(const Stmt& body, const loop::Buffer& buffer, const Bounds& outer) {
  RegionReader reader(buffer, outer, /*with_stores=*/true);
  reader.Visit(body);
  return reader.Take();
}

}  // namespace hone::schedule
