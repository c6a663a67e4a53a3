#include "compiler/schedule/primitives/dependence.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Expr;
using loop::ExprKind;
using loop::Interval;
using loop::Linear;
using loop::Stmt;
using loop::StmtKind;

namespace {

int64_t LoopIterations(const loop::StmtNode& loop, const Bounds& bounds) {
  return BoundsOf(LinearForm(loop.extent, bounds), bounds).max;
}

}  // namespace

bool InjectiveIn(const std::vector<Expr>& indices, const std::vector<Stmt>& loops,
                 const Bounds& bounds) {
  // Each index is a mixed-radix number of variables that occur in it alone.
  std::vector<const loop::ExprNode*> seen;
  for (const Expr& index : indices) {
    const Linear linear = LinearForm(index, bounds);
    std::vector<std::pair<int64_t, int64_t>> digits;  // coefficient, extent
    for (const Linear::Term& term : linear.terms()) {
      const auto own = std::find_if(loops.begin(), loops.end(),
                                    [&](const Stmt& loop) { return loop->var.SameAs(term.atom); });
      if (own == loops.end()) {
        for (const Stmt& loop : loops) {
          if (loop::UsesVar(term.atom, loop->var)) return false;
        }
        continue;
      }
      if (std::find(seen.begin(), seen.end(), term.atom.get()) != seen.end()) return false;
      seen.push_back(term.atom.get());
      digits.emplace_back(std::abs(term.coefficient), LoopIterations(**own, bounds));
    }
    std::sort(digits.begin(), digits.end());
    int64_t below = 0;  // largest sum of the smaller digits
    for (const auto& [coefficient, extent] : digits) {
      if (coefficient <= below || extent >= Interval::kInfinity) return false;
      below += coefficient * (extent - 1);
    }
  }
  // A loop of one iteration shares with none.
  return std::all_of(loops.begin(), loops.end(), [&](const Stmt& loop) {
    return std::find(seen.begin(), seen.end(), loop->var.get()) != seen.end() ||
           LoopIterations(*loop, bounds) <= 1;
  });
}

namespace {

struct Touch {
  const loop::BufferNode* buffer;
  bool store;
  // Per dimension: coefficient of the variable and the bounds of the rest; coefficient 0 where the
  // index is not coefficient * variable + rest.
  // The rest is a part that is fixed while the loop runs, and bounds of what is not.
  struct Dim {
    int64_t coefficient = 0;
    Linear fixed;
    Interval rest;
    // What is not fixed is `offset` and a multiple of `step`; 0: it is `offset`.
    int64_t offset = 0;
    int64_t step = 0;
    // It is also a multiple of `coarse_step`, which is larger than all steps of the variable
    // together, and what lies within `fine`; 0: it lies within `fine`.
    int64_t coarse_step = 0;
    Interval fine;
  };
  std::vector<Dim> dims;
};

class TouchCollector {
 public:
  // The last of `bounds` is the loop itself.
  TouchCollector(Expr var, Bounds bounds)
      : var_(std::move(var)), bounds_(std::move(bounds)), outer_(bounds_.variables().size() - 1) {}

  // Accesses of what no statement below stores to are not collected: they keep no iterations in
  // order.
  void Collect(const Stmt& s) {
    loop::Walk(s, [&](const Stmt& node) {
      if (node->kind == StmtKind::kStore) stored_.insert(node->buffer.get());
      return true;
    });
    Visit(s);
  }
  const std::vector<Touch>& touches() const { return touches_; }

 private:
  void Visit(const Stmt& s) {
    switch (s->kind) {
      case StmtKind::kFor:
        VisitExpr(s->min);
        VisitExpr(s->extent);
        bounds_.PushLoop(*s);
        Visit(s->body[0]);
        bounds_.Pop();
        return;
      case StmtKind::kAlloc:
        own_.push_back(s->buffer.get());
        break;
      case StmtKind::kStore:
        Add(s->buffer.get(), s->indices, true);
        break;
      default:
        break;
    }
    if (s->kind != StmtKind::kPrefetch) {
      loop::ForEachExpr(*s, [&](const Expr& e) { VisitExpr(e); });
    }
    for (const Stmt& child : s->body) Visit(child);
  }
  void VisitExpr(const Expr& e) {
    if (e->kind == ExprKind::kLoad) Add(e->buffer.get(), e->operands, false);
    for (const Expr& operand : e->operands) VisitExpr(operand);
  }

  void Add(const loop::BufferNode* buffer, const std::vector<Expr>& indices, bool store) {
    if (!stored_.contains(buffer)) return;
    if (std::find(own_.begin(), own_.end(), buffer) != own_.end()) return;
    Touch touch{buffer, store, {}};
    for (const Expr& index : indices) {
      touch.dims.push_back(DimOf(index));
    }
    touches_.push_back(std::move(touch));
  }

  Touch::Dim DimOf(const Expr& index) {
    Touch::Dim dim;
    const Linear linear = LinearForm(index, bounds_);
    Linear rest(linear.constant());
    for (const Linear::Term& term : linear.terms()) {
      if (term.atom.SameAs(var_)) {
        dim.coefficient = term.coefficient;
      } else if (IsFixed(term.atom)) {
        dim.fixed.AddTerm(term.atom, term.coefficient);
      } else {
        rest.AddTerm(term.atom, term.coefficient);
      }
    }
    for (const Linear::Term& term : rest.terms()) {
      if (term.atom->kind != ExprKind::kVar && loop::UsesVar(term.atom, var_)) dim.coefficient = 0;
    }
    dim.rest = BoundsOf(rest, bounds_);
    dim.offset = rest.constant();
    for (const Linear::Term& term : rest.terms()) dim.step = std::gcd(dim.step, term.coefficient);
    SplitRest(rest, &dim);
    return dim;
  }

  void SplitRest(const Linear& rest, Touch::Dim* dim) const {
    const int64_t iterations = bounds_.variables()[outer_].interval.max + 1;
    Linear fine(rest.constant());
    for (const Linear::Term& term : rest.terms()) {
      const bool is_coarse = iterations < Interval::kInfinity &&
                             std::abs(term.coefficient) / std::max<int64_t>(iterations, 1) >=
                                 std::abs(dim->coefficient);
      if (is_coarse) {
        dim->coarse_step = std::gcd(dim->coarse_step, term.coefficient);
      } else {
        fine.AddTerm(term.atom, term.coefficient);
      }
    }
    dim->fine = BoundsOf(fine, bounds_);
  }

  // Whether the expression has variables around the loop only, and no loads.
  bool IsFixed(const Expr& e) const {
    if (e->kind == ExprKind::kLoad) return false;
    if (e->kind == ExprKind::kVar) {
      for (size_t i = 0; i < outer_; ++i) {
        if (bounds_.variables()[i].var.SameAs(e)) return true;
      }
      return false;
    }
    return std::all_of(e->operands.begin(), e->operands.end(),
                       [&](const Expr& operand) { return IsFixed(operand); });
  }

  Expr var_;
  Bounds bounds_;
  size_t outer_;
  absl::flat_hash_set<const loop::BufferNode*> stored_;
  std::vector<const loop::BufferNode*> own_;
  std::vector<Touch> touches_;
};

// Whether some dimension keeps the iterations, `iterations` at most, apart in all accesses of the
// buffer: either the steps of the loop reach further than what is touched in one, or they fill the
// gaps between the multiples that one touches, with what is touched beside each of these.
bool KeptApart(const std::vector<Touch>& touches, const loop::BufferNode* buffer,
               int64_t iterations) {
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    int64_t coefficient = 0;
    const Touch::Dim* first = nullptr;
    std::optional<Interval> all, fine;
    int64_t gap = 0, coarse_gap = 0;
    bool apart = true;
    for (const Touch& touch : touches) {
      if (touch.buffer != buffer) continue;
      const Touch::Dim& dim = touch.dims[d];
      if (dim.coefficient == 0 || (coefficient != 0 && dim.coefficient != coefficient)) {
        apart = false;
        break;
      }
      if (first == nullptr) first = &dim;
      Linear difference = dim.fixed;
      difference.Add(first->fixed, -1);
      if (!difference.IsConstant()) {
        apart = false;
        break;
      }
      gap = std::gcd(gap, std::gcd(dim.step, dim.offset - first->offset));
      coefficient = dim.coefficient;
      all = all ? Union(*all, dim.rest) : dim.rest;
      fine = fine ? Union(*fine, dim.fine) : dim.fine;
      coarse_gap = std::gcd(coarse_gap, dim.coarse_step);
    }
    if (apart && coefficient != 0 && iterations < Interval::kInfinity &&
        std::abs(coefficient) * (iterations - 1) < gap) {
      return true;
    }
    if (apart && coefficient != 0 && iterations < Interval::kInfinity && fine->HasMin() &&
        fine->HasMax() && fine->max - fine->min < std::abs(coefficient) &&
        std::abs(coefficient) * (iterations - 1) + (fine->max - fine->min) < coarse_gap) {
      return true;
    }
    const bool known = apart && all && all->HasMin() && all->HasMax();
    if (known && all->max - all->min < std::abs(coefficient)) return true;
  }
  return false;
}

}  // namespace

bool IterationsIndependent(const Stmt& loop, const Bounds& bounds) {
  const int64_t iterations = LoopIterations(*loop, bounds);
  if (iterations <= 1) return true;
  Bounds inside = bounds;
  inside.PushLoop(*loop);
  TouchCollector collector(loop->var, std::move(inside));
  collector.Collect(loop->body[0]);
  std::vector<const loop::BufferNode*> written;
  for (const Touch& touch : collector.touches()) {
    if (touch.store) written.push_back(touch.buffer);
  }
  return std::all_of(written.begin(), written.end(), [&](const loop::BufferNode* buffer) {
    return KeptApart(collector.touches(), buffer, iterations);
  });
}

}  // namespace hone::schedule
