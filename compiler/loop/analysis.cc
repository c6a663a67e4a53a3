#include "compiler/loop/analysis.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "compiler/loop/linear.h"
#include "compiler/loop/simplify.h"
#include "fmt/format.h"

namespace hone::loop {
namespace {

using VarSet = absl::flat_hash_set<const ExprNode*>;

bool UsesAny(const Expr& e, const VarSet& vars) {
  if (e->kind == ExprKind::kVar) return vars.contains(e.get());
  return std::any_of(e->operands.begin(), e->operands.end(),
                     [&](const Expr& operand) { return UsesAny(operand, vars); });
}

// Variables of the loops inside `s`, with their ranges added to `bounds`.
void EnterLoops(const Stmt& s, Bounds& bounds, VarSet& vars) {
  if (s->kind == StmtKind::kFor) {
    vars.insert(s->var.get());
    bounds.erase(s->var.get());
    if (const auto range = LoopBounds(*s, bounds)) bounds[s->var.get()] = *range;
  }
  for (const Stmt& child : s->body) EnterLoops(child, bounds, vars);
}

absl::flat_hash_set<const BufferNode*> AllocatedIn(const Stmt& s) {
  absl::flat_hash_set<const BufferNode*> allocated;
  Walk(s, [&](const Stmt& node) {
    if (node->kind == StmtKind::kAlloc) allocated.insert(node->buffer.get());
    return true;
  });
  return allocated;
}

std::vector<Buffer> TouchedBuffers(const Stmt& s, bool stores) {
  const auto allocated = AllocatedIn(s);
  std::vector<Buffer> buffers;
  for (const Access& access : CollectAccesses(s)) {
    if (access.is_store != stores || allocated.contains(access.buffer.get())) continue;
    if (std::find(buffers.begin(), buffers.end(), access.buffer) == buffers.end()) {
      buffers.push_back(access.buffer);
    }
  }
  return buffers;
}

// An index as what the outer variables give plus a range from everything else.
struct Span {
  Linear outer;
  Interval inner;
};

std::optional<Span> SpanOf(const Expr& index, const VarSet& inner_vars, const Bounds& bounds) {
  const Linear linear = Linear::Of(Simplify(index, bounds));
  Linear outer;
  Linear inner(linear.constant());
  for (const auto& [atom, coefficient] : linear.terms()) {
    const bool varies = UsesAny(atom, inner_vars) || HasLoad(atom);
    (varies ? inner : outer).AddTerm(atom, coefficient);
  }
  const auto range = BoundsOf(inner, bounds);
  if (!range) return std::nullopt;
  return Span{outer, *range};
}

bool SameLinear(const Linear& a, const Linear& b) {
  Linear difference = a;
  difference.Add(b, -1);
  return difference.IsConstant() && difference.constant() == 0;
}

// Of one dimension, over all accesses; nullopt: not known.
std::optional<Span> UnionSpan(const std::vector<const Access*>& accesses, size_t dimension,
                              const VarSet& inner_vars, const Bounds& bounds) {
  std::optional<Span> all;
  for (const Access* access : accesses) {
    const auto span = SpanOf(access->indices[dimension], inner_vars, bounds);
    if (!span) return std::nullopt;
    if (!all) {
      all = span;
      continue;
    }
    if (!SameLinear(all->outer, span->outer)) return std::nullopt;
    all->inner.min = std::min(all->inner.min, span->inner.min);
    all->inner.max = std::max(all->inner.max, span->inner.max);
  }
  return all;
}

class ZeroBase : public Mutator {
 public:
  Stmt Rewrite(const Stmt& s) override {
    if (s->kind != StmtKind::kFor) return RewriteChildren(s);
    const Expr var = Var(s->var->name, s->var->dtype);
    const Stmt body = Substitute(s->body[0], VarMap{{s->var.get(), s->min + var}});
    return For(var, IntConst(0, var->dtype), s->extent, Rewrite(body), s->loop_kind);
  }
  using Mutator::Rewrite;
};

// Whether two iterations of one loop can touch the same element.
class DependenceTest {
 public:
  DependenceTest(const Stmt& loop, const Bounds& outer) : var_(loop->var), bounds_(outer) {
    if (const auto range = LoopBounds(*loop, outer)) bounds_[var_.get()] = *range;
    EnterLoops(loop->body[0], bounds_, inner_);
  }

  // True: proved that a in one iteration and b in another never meet.
  bool Apart(const Access& a, const Access& b) const {
    for (size_t d = 0; d < a.indices.size(); ++d) {
      if (ApartIn(a.indices[d], b.indices[d])) return true;
    }
    return ApartCombined(a, b, false) || ApartCombined(a, b, true);
  }

 private:
  // c v + p and c v' + q differ for v != v' if |p - q| < |c|.
  bool ApartIn(const Expr& a, const Expr& b) const {
    const auto x = Split(a);
    const auto y = Split(b);
    if (!x || !y || x->step == 0 || x->step != y->step) return false;
    if (!SameLinear(x->span.outer, y->span.outer)) return false;
    int64_t low = 0;
    int64_t high = 0;
    if (__builtin_sub_overflow(x->span.inner.min, y->span.inner.max, &low) ||
        __builtin_sub_overflow(x->span.inner.max, y->span.inner.min, &high)) {
      return false;
    }
    const int64_t step = std::abs(x->step);
    return -step < low && high < step;
  }

  // Dimensions that share the variable between them (after fusing loops) together tell iterations
  // apart: takes them as the digits of one index.
  bool ApartCombined(const Access& a, const Access& b, bool backwards) const {
    Expr x = 0;
    Expr y = 0;
    const size_t rank = a.indices.size();
    for (size_t n = 0; n < rank; ++n) {
      const size_t d = backwards ? rank - 1 - n : n;
      if (!UsesVar(a.indices[d], var_) && !UsesVar(b.indices[d], var_)) continue;
      const auto range_a = BoundsOf(Simplify(a.indices[d], bounds_), bounds_);
      const auto range_b = BoundsOf(Simplify(b.indices[d], bounds_), bounds_);
      if (!range_a || !range_b) return false;
      const int64_t low = std::min(range_a->min, range_b->min);
      const Expr digits = IntConst(std::max(range_a->max, range_b->max) - low + 1);
      x = x * digits + (a.indices[d] - Expr(low));
      y = y * digits + (b.indices[d] - Expr(low));
    }
    return ApartIn(x, y);
  }

  struct Index {
    int64_t step;
    Span span;
  };
  std::optional<Index> Split(const Expr& e) const {
    const Linear linear = Linear::Of(Simplify(e, bounds_));
    for (const Linear::Term& term : linear.terms()) {
      if (!term.atom.SameAs(var_) && UsesVar(term.atom, var_)) return std::nullopt;
    }
    const int64_t step = linear.CoefficientOf(var_);
    Linear rest = linear;
    rest.AddTerm(var_, -step);
    const auto span = SpanOf(rest.ToExpr(), inner_, bounds_);
    return span ? std::optional(Index{step, *span}) : std::nullopt;
  }

  Expr var_;
  Bounds bounds_;
  VarSet inner_;
};

// Whether all accesses of `buffer` are accumulations into elements that do not depend on `var`, by
// one operator.
bool OnlyAccumulates(const std::vector<Access>& accesses, const Buffer& buffer, const Expr& var) {
  std::optional<BinaryOp> op;
  for (const Access& access : accesses) {
    if (access.buffer != buffer) continue;
    if (access.stmt->kind != StmtKind::kStore || access.stmt->buffer != buffer) return false;
    const auto accumulation = AsAccumulation(*access.stmt);
    if (!accumulation || (op && *op != accumulation->op)) return false;
    op = accumulation->op;
    for (const Expr& index : access.indices) {
      if (UsesVar(index, var) || HasLoad(index)) return false;
    }
  }
  return op.has_value();
}

bool SameIndices(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!StructuralEqual(a[i], b[i])) return false;
  }
  return true;
}

bool LoadsBuffer(const Expr& e, const Buffer& buffer) {
  if (e->kind == ExprKind::kLoad && e->buffer == buffer) return true;
  return std::any_of(e->operands.begin(), e->operands.end(),
                     [&](const Expr& operand) { return LoadsBuffer(operand, buffer); });
}

}  // namespace

std::optional<int64_t> Coefficient(const Expr& index, const Expr& var) {
  const Linear linear = Linear::Of(index);
  for (const Linear::Term& term : linear.terms()) {
    if (!term.atom.SameAs(var) && UsesVar(term.atom, var)) return std::nullopt;
  }
  return linear.CoefficientOf(var);
}

std::optional<int64_t> ElementStride(const BufferNode& buffer, const std::vector<Expr>& indices,
                                     const Expr& var, const Bounds& bounds) {
  return Coefficient(PhysicalOffset(buffer, indices, bounds), var);
}

std::vector<Buffer> ReadBuffers(const Stmt& s) { return TouchedBuffers(s, false); }
std::vector<Buffer> WrittenBuffers(const Stmt& s) { return TouchedBuffers(s, true); }

std::optional<Region> TouchedRegion(const Stmt& s, const Buffer& buffer, AccessKind kind,
                                    const Bounds& outer) {
  const Stmt zero_based = ZeroBasedLoops(s);
  Bounds bounds = outer;
  VarSet inner;
  EnterLoops(zero_based, bounds, inner);
  const std::vector<Access> accesses = CollectAccesses(zero_based);
  std::vector<const Access*> touching;
  for (const Access& access : accesses) {
    const bool wanted = kind == AccessKind::kAny || access.is_store == (kind == AccessKind::kWrite);
    if (access.buffer == buffer && wanted) touching.push_back(&access);
  }
  if (touching.empty()) return std::nullopt;
  Region region;
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    if (const auto span = UnionSpan(touching, d, inner, bounds)) {
      region.min.push_back(span->outer.ToExpr() + IntConst(span->inner.min));
      region.extent.push_back(span->inner.max - span->inner.min + 1);
    } else {
      region.min.push_back(0);
      region.extent.push_back(buffer->layout.PaddedExtent(static_cast<int>(d), buffer->shape[d]));
    }
  }
  return region;
}

std::optional<Accumulation> AsAccumulation(const StmtNode& store) {
  if (store.kind != StmtKind::kStore || store.value->kind != ExprKind::kBinary) return std::nullopt;
  const BinaryOp op = store.value->binary_op;
  if (op != BinaryOp::kAdd && op != BinaryOp::kMul && op != BinaryOp::kMin &&
      op != BinaryOp::kMax) {
    return std::nullopt;
  }
  for (size_t side : {0, 1}) {
    const Expr& old = store.value->operands[side];
    const Expr& value = store.value->operands[1 - side];
    if (old->kind == ExprKind::kLoad && old->buffer == store.buffer &&
        SameIndices(old->operands, store.indices) && !LoadsBuffer(value, store.buffer)) {
      return Accumulation{op, value};
    }
  }
  return std::nullopt;
}

LoopAnalysis AnalyseLoop(const Stmt& original, const Bounds& outer) {
  const Stmt loop = ZeroBasedLoops(original);
  int64_t extent = 0;
  if (IsConstInt(loop->extent, &extent) && extent <= 1) return {};
  const auto allocated = AllocatedIn(loop->body[0]);
  const std::vector<Access> accesses = CollectAccesses(loop->body[0]);
  const DependenceTest test(loop, outer);
  LoopAnalysis analysis;
  for (const Buffer& buffer : WrittenBuffers(loop->body[0])) {
    if (allocated.contains(buffer.get())) continue;
    const auto meets = [&](const Access& store) {
      return std::any_of(accesses.begin(), accesses.end(), [&](const Access& other) {
        return other.buffer == buffer && !test.Apart(store, other);
      });
    };
    const bool apart = std::none_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      return access.is_store && access.buffer == buffer && meets(access);
    });
    if (apart) continue;
    if (OnlyAccumulates(accesses, buffer, loop->var)) {
      analysis.reduced.push_back(buffer);
      if (analysis.dependence == LoopDependence::kIndependent) {
        analysis.dependence = LoopDependence::kReduction;
        analysis.reason =
            fmt::format("loop {} accumulates into %{}", loop->var->name, buffer->name);
      }
      continue;
    }
    analysis.dependence = LoopDependence::kUnknown;
    analysis.reason = fmt::format("iterations of loop {} may touch the same elements of %{}",
                                  loop->var->name, buffer->name);
    return analysis;
  }
  return analysis;
}

Stmt ZeroBasedLoops(const Stmt& s) { return ZeroBase().Rewrite(s); }

}  // namespace hone::loop
