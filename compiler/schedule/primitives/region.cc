#include "compiler/schedule/primitives/region.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_set.h"
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

// Of an atom that is no variable and uses inner ones.
std::optional<Linear> ExtremeOfAtom(const Expr& atom, const Bounds& bounds, size_t kept,
                                    bool largest) {
  if (atom->kind != ExprKind::kBinary) return std::nullopt;
  const BinaryOp op = atom->binary_op;
  int64_t c = 0;
  if (op == BinaryOp::kFloorMod && loop::IsConstInt(atom->operands[1], &c) && c > 0) {
    return Linear(largest ? c - 1 : 0);
  }
  const auto a = Extreme(LinearForm(atom->operands[0], bounds), bounds, kept, largest);
  const auto b = Extreme(LinearForm(atom->operands[1], bounds), bounds, kept, largest);
  if (!a || !b) return std::nullopt;
  if (op != BinaryOp::kFloorDiv || !b->IsConstant() || b->constant() <= 0) return std::nullopt;
  return LinearForm(loop::Binary(op, a->ToExpr(), b->ToExpr()), bounds);
}

bool IsMinOrMax(const Expr& e) {
  return e->kind == ExprKind::kBinary &&
         (e->binary_op == BinaryOp::kMin || e->binary_op == BinaryOp::kMax);
}

// rest + c * min(a, b) is min(rest + c * a, rest + c * b), or the larger of them where c is
// negative: terms of `rest` that cancel those of a or b do so.
std::optional<Linear> ExtremeOfChoice(const Linear& x, const Linear::Term& choice,
                                      const Bounds& bounds, size_t kept, bool largest) {
  std::optional<Linear> extreme[2];
  for (size_t side : {size_t{0}, size_t{1}}) {
    Linear with = x;
    with.AddTerm(choice.atom, -choice.coefficient);
    with.Add(LinearForm(choice.atom->operands[side], bounds), choice.coefficient);
    extreme[side] = Extreme(with, bounds, kept, largest);
    if (!extreme[side]) return std::nullopt;
  }
  const bool smaller = (choice.atom->binary_op == BinaryOp::kMin) == (choice.coefficient > 0);
  return LinearForm(loop::Binary(smaller ? BinaryOp::kMin : BinaryOp::kMax, extreme[0]->ToExpr(),
                                 extreme[1]->ToExpr()),
                    bounds);
}

}  // namespace

std::optional<Linear> Extreme(const Linear& x, const Bounds& bounds, size_t kept, bool largest) {
  Linear result = x;
  // Opaque terms first: they may hold inner variables of any depth.
  for (size_t t = 0; t < result.terms().size();) {
    const Linear::Term term = result.terms()[t];
    if (term.atom->kind == ExprKind::kVar || !UsesInner(term.atom, bounds, kept)) {
      ++t;
      continue;
    }
    if (IsMinOrMax(term.atom)) return ExtremeOfChoice(result, term, bounds, kept, largest);
    const auto extreme = ExtremeOfAtom(term.atom, bounds, kept, largest == (term.coefficient > 0));
    if (!extreme) return std::nullopt;
    result.AddTerm(term.atom, -term.coefficient);
    result.Add(*extreme, term.coefficient);
    t = 0;
  }
  for (size_t i = bounds.variables().size(); i-- > kept;) {
    const Bounds::Variable& known = bounds.variables()[i];
    const int64_t coefficient = result.CoefficientOf(known.var);
    if (coefficient == 0) continue;
    const bool maximum = largest == (coefficient > 0);
    const Expr& limit = maximum ? known.max : known.min;
    if (!limit && !(maximum ? known.interval.HasMax() : known.interval.HasMin())) {
      return std::nullopt;
    }
    result.AddTerm(known.var, -coefficient);
    if (!limit) {
      result.AddConstant(coefficient * (maximum ? known.interval.max : known.interval.min));
      continue;
    }
    // The limit is one of outer variables; opaque terms that it brings in are taken apart before
    // these are, to keep what relates them.
    result.Add(LinearForm(limit, bounds), coefficient);
    return Extreme(result, bounds, kept, largest);
  }
  return result;
}

namespace {

class RegionReader {
 public:
  RegionReader(const loop::Buffer& buffer, const Bounds& outer)
      : buffer_(buffer), bounds_(outer), kept_(outer.variables().size()) {}

  void Visit(const Stmt& s) {
    loop::ForEachExpr(*s, [&](const Expr& e) {
      loop::Walk(e, [&](const Expr& node) {
        if (node->kind == ExprKind::kLoad && node->buffer == buffer_) AddLoad(node);
      });
    });
    if (s->kind == StmtKind::kFor) EnterOrLeave([&] { bounds_.PushLoop(*s); });
    for (const Stmt& child : s->body) Visit(child);
    if (s->kind == StmtKind::kFor) EnterOrLeave([&] { bounds_.Pop(); });
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

  void AddLoad(const Expr& load) {
    for (size_t d = 0; d < load->operands.size(); ++d) {
      const Expr& index = load->operands[d];
      if (!seen_.emplace(index.get(), d).second) continue;
      Region::Dim dim = DimOf(index, d);
      if (region_.loads == 0) {
        region_.dims.push_back(std::move(dim));
        continue;
      }
      region_.dims[d].low = Join(region_.dims[d].low, dim.low, BinaryOp::kMin);
      region_.dims[d].high = Join(region_.dims[d].high, dim.high, BinaryOp::kMax);
    }
    ++region_.loads;
  }

  template <typename Change>
  void EnterOrLeave(const Change& change) {
    change();
    seen_.clear();
  }

  const loop::Buffer& buffer_;
  Bounds bounds_;
  size_t kept_;
  Region region_;
  struct Steps {
    Linear fixed;
    int64_t step = 0;
  };
  std::vector<Steps> steps_;  // a dimension
  // Indices that the region has within the loops around: loads of one statement share most of
  // theirs.
  absl::flat_hash_set<std::pair<const loop::ExprNode*, size_t>> seen_;
};

}  // namespace

Region RegionRead(const Stmt& body, const loop::Buffer& buffer, const Bounds& outer) {
  RegionReader reader(buffer, outer);
  reader.Visit(body);
  return reader.Take();
}

}  // namespace hone::schedule
