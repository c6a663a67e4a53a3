#include "compiler/schedule/primitives/region.h"

#include "compiler/loop/visit.h"

namespace hone::schedule {

using loop::BinaryOp;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

namespace {

bool UsesInner(const Expr& e, const Ranges& ranges, size_t kept) {
  if (e->kind == ExprKind::kVar) {
    for (size_t i = kept; i < ranges.entries().size(); ++i) {
      if (ranges.entries()[i].var.SameAs(e)) return true;
    }
    return false;
  }
  for (const Expr& operand : e->operands) {
    if (UsesInner(operand, ranges, kept)) return true;
  }
  return false;
}

// Of an atom that is no variable and uses inner ones.
std::optional<Linear> ExtremeOfAtom(const Expr& atom, const Ranges& ranges, size_t kept,
                                    bool largest) {
  if (atom->kind != ExprKind::kBinary) return std::nullopt;
  const BinaryOp op = atom->binary_op;
  int64_t c = 0;
  if (op == BinaryOp::kFloorMod && loop::IsConstInt(atom->operands[1], &c) && c > 0) {
    Linear bound;
    bound.constant = largest ? c - 1 : 0;
    return bound;
  }
  const auto a = Extreme(ToLinear(atom->operands[0], ranges), ranges, kept, largest);
  const auto b = Extreme(ToLinear(atom->operands[1], ranges), ranges, kept, largest);
  if (!a || !b) return std::nullopt;
  const bool monotone = op == BinaryOp::kMin || op == BinaryOp::kMax ||
                        (op == BinaryOp::kFloorDiv && b->IsConstant() && b->constant > 0);
  if (!monotone) return std::nullopt;
  return ToLinear(loop::Binary(op, FromLinear(*a), FromLinear(*b)), ranges);
}

}  // namespace

std::optional<Linear> Extreme(const Linear& x, const Ranges& ranges, size_t kept, bool largest) {
  Linear result = x;
  // Opaque terms first: they may hold inner variables of any depth.
  for (size_t t = 0; t < result.terms.size();) {
    const Linear::Term term = result.terms[t];
    if (term.atom->kind == ExprKind::kVar || !UsesInner(term.atom, ranges, kept)) {
      ++t;
      continue;
    }
    const auto extreme = ExtremeOfAtom(term.atom, ranges, kept, largest == (term.coefficient > 0));
    if (!extreme) return std::nullopt;
    result.terms.erase(result.terms.begin() + static_cast<ptrdiff_t>(t));
    result.Add(*extreme, term.coefficient);
    t = 0;
  }
  for (size_t i = ranges.entries().size(); i-- > kept;) {
    const Ranges::Entry& entry = ranges.entries()[i];
    for (const Linear::Term& found : result.terms) {
      if (!found.atom.SameAs(entry.var)) continue;
      const int64_t coefficient = found.coefficient;
      const bool maximum = largest == (coefficient > 0);
      Linear bound;
      if (const Expr& symbolic = maximum ? entry.symbolic_max : entry.symbolic_min) {
        bound = ToLinear(symbolic, ranges);
      } else {
        bound.constant = maximum ? entry.interval.high : entry.interval.low;
      }
      if (bound.constant >= Interval::kInfinity || bound.constant <= -Interval::kInfinity) {
        return std::nullopt;
      }
      bound.Add(Linear{{{entry.var, 1}}, 0}, -1);
      result.Add(bound, coefficient);
      break;
    }
  }
  // A limit may itself have brought in opaque terms of inner variables.
  for (const Linear::Term& term : result.terms) {
    if (!UsesInner(term.atom, ranges, kept)) continue;
    if (result.terms.size() == x.terms.size()) return std::nullopt;
    return Extreme(result, ranges, kept, largest);
  }
  return result;
}

namespace {

class RegionReader {
 public:
  RegionReader(const loop::Buffer& buffer, const Ranges& outer)
      : buffer_(buffer), ranges_(outer), kept_(outer.entries().size()) {}

  void Visit(const Stmt& s, bool conditional) {
    if (s->kind == StmtKind::kFor) {
      VisitExpr(s->extent, conditional);
      ranges_.PushLoop(*s);
      Visit(s->body[0], conditional);
      ranges_.Pop();
      return;
    }
    loop::ForEachExpr(*s, [&](const Expr& e) { VisitExpr(e, conditional); });
    const bool below = conditional || s->kind == StmtKind::kIf || s->kind == StmtKind::kWhile;
    for (const Stmt& child : s->body) Visit(child, below);
  }
  Region Take() { return std::move(region_); }

 private:
  void VisitExpr(const Expr& e, bool conditional) {
    if (e->kind == ExprKind::kSelect) {
      VisitExpr(e->operands[0], conditional);
      VisitExpr(e->operands[1], true);
      VisitExpr(e->operands[2], true);
      return;
    }
    if (e->kind == ExprKind::kLoad && e->buffer == buffer_) AddLoad(e, conditional);
    for (const Expr& operand : e->operands) VisitExpr(operand, conditional);
  }

  Region::Dim DimOf(const Expr& index, size_t d) {
    const Linear linear = ToLinear(index, ranges_);
    const auto low = Extreme(linear, ranges_, kept_, false);
    const auto high = Extreme(linear, ranges_, kept_, true);
    if (low && high) return {*low, *high};
    Linear last;
    last.constant = buffer_->shape[d] - 1;
    return {Linear(), last};
  }

  // The smaller (larger) of two bounds, as an expression if need be.
  Linear Join(const Linear& a, const Linear& b, BinaryOp op) {
    return ToLinear(loop::Binary(op, FromLinear(a), FromLinear(b)), ranges_);
  }

  void AddLoad(const Expr& load, bool conditional) {
    std::vector<Region::Dim> dims;
    for (size_t d = 0; d < load->operands.size(); ++d) dims.push_back(DimOf(load->operands[d], d));
    if (region_.loads == 0) {
      region_.dims = std::move(dims);
    } else {
      for (size_t d = 0; d < dims.size(); ++d) {
        region_.dims[d].low = Join(region_.dims[d].low, dims[d].low, BinaryOp::kMin);
        region_.dims[d].high = Join(region_.dims[d].high, dims[d].high, BinaryOp::kMax);
      }
    }
    region_.conditional = region_.conditional && conditional;
    ++region_.loads;
  }

  const loop::Buffer& buffer_;
  Ranges ranges_;
  size_t kept_;
  Region region_;
};

}  // namespace

Region RegionRead(const Stmt& body, const loop::Buffer& buffer, const Ranges& outer) {
  RegionReader reader(buffer, outer);
  reader.Visit(body, false);
  return reader.Take();
}

}  // namespace hone::schedule
