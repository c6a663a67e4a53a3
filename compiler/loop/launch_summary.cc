#include "compiler/loop/launch_summary.h"

#include <algorithm>
#include <cmath>

#include "compiler/loop/bounds.h"
#include "compiler/loop/mean_trips.h"
#include "compiler/loop/operator_cost.h"
#include "compiler/loop/scalar.h"
#include "compiler/loop/visit.h"

namespace hone::loop {
namespace {

// The trips of a loop about which nothing is known.
constexpr double kGuessedExtent = 16;

bool IsSpecial(UnaryOp op) { return CostOfUnary(op) != OperatorCost::kCheap; }

bool IsProduct(const Expr& e) {
  return e->kind == ExprKind::kBinary && e->binary_op == BinaryOp::kMul;
}

// The loops around an expression, outermost first.
using LoopPath = std::vector<const LoopInfo*>;

// `condition` asks whether a loop that will be unrolled is at one of its iterations: which branch
// is taken is known then. The iterations; 0 where it is no such question.
double IterationsAskedFor(const Expr& condition, const LoopPath& path) {
  if (condition->kind != ExprKind::kBinary || condition->binary_op != BinaryOp::kEq ||
      !IsConstInt(condition->operands[1])) {
    return 0;
  }
  Expr asked = condition->operands[0];
  int64_t period = 0;
  if (asked->kind == ExprKind::kBinary && asked->binary_op == BinaryOp::kFloorMod &&
      IsConstInt(asked->operands[1], &period)) {
    asked = asked->operands[0];
  }
  for (const LoopInfo* info : path) {
    if (info->loop->loop_kind != LoopKind::kUnroll || !asked.SameAs(info->loop->var)) continue;
    return period > 0 ? std::min(info->extent, static_cast<double>(period)) : info->extent;
  }
  return 0;
}

// The part of the executions in which a select takes its first branch, and its second. `left` is
// the part in which it is evaluated at all: in a chain of choices by one loop each iteration has
// its own.
struct Shares {
  double then = 1, otherwise = 1;
  bool is_free = false;  // nothing is asked when it runs
};
Shares SharesOf(const Expr& select, const LoopPath& path, double left) {
  const double iterations = IterationsAskedFor(select->operands[0], path);
  if (iterations == 0) return {left, left, false};
  const double then = std::min(left, 1 / iterations);
  return {then, left - then, true};
}

void CountBinary(const Expr& e, OpCounts& ops, double share) {
  const bool real = IsFloat(e->operands[0]->dtype);
  const BinaryOp op = e->binary_op;
  if (GivesBool(op)) {
    ops.compare += share;
  } else if (!real) {
    ops.integer += share;
  } else if (op == BinaryOp::kAdd || op == BinaryOp::kSub) {
    if (IsProduct(e->operands[0]) || IsProduct(e->operands[1])) {
      ops.fma += share;
      ops.mul -= share;  // counted when the product is visited
    } else {
      ops.add += share;
    }
  } else if (op == BinaryOp::kMul) {
    ops.mul += share;
  } else if (op == BinaryOp::kMin || op == BinaryOp::kMax) {
    ops.extremum += share;
  } else if (op == BinaryOp::kDiv) {
    ops.div += share;
  } else {
    ops.special += share;
  }
}

// Index arithmetic counts as integer operations only where it is not linear: addresses are folded.
void CountOps(const Expr& e, const LoopPath& path, double share, OpCounts& ops) {
  if (share <= 0) return;
  if (e->kind == ExprKind::kLoad) {
    ops.loads += share;
    for (const Expr& index : e->operands) {
      if (HasLoad(index)) CountOps(index, path, share, ops);
    }
    return;
  }
  if (e->kind == ExprKind::kSelect) {
    const Shares shares = SharesOf(e, path, share);
    if (!shares.is_free) {
      ops.compare += share;
      CountOps(e->operands[0], path, share, ops);
    }
    CountOps(e->operands[1], path, shares.then, ops);
    CountOps(e->operands[2], path, shares.otherwise, ops);
    return;
  }
  if (e->kind == ExprKind::kUnary) {
    (IsFloat(e->dtype) ? IsSpecial(e->unary_op) ? ops.special : ops.add : ops.integer) += share;
  } else if (e->kind == ExprKind::kBinary) {
    CountBinary(e, ops, share);
  }
  for (const Expr& operand : e->operands) CountOps(operand, path, share, ops);
}

class Summariser {
 public:
  explicit Summariser(LaunchSummary& summary) : summary_(summary) {}

  void Visit(const Stmt& s, const Bounds& bounds, double trips) {
    switch (s->kind) {
      case StmtKind::kFor:
        return VisitLoop(*s, bounds, trips);
      case StmtKind::kStore:
        return VisitStore(*s, trips);
      case StmtKind::kAlloc:
        return VisitAlloc(*s, bounds, trips);
      case StmtKind::kIf:
      case StmtKind::kWhile: {
        summary_.conditions += 1;
        OpCounts ops;
        CountOps(s->condition, Path(), 1, ops);
        summary_.totals.AddScaled(ops, trips);
        AddLoads(s->condition, trips);
        break;
      }
      case StmtKind::kPrefetch:
        summary_.prefetches += 1;
        break;
      default:
        break;
    }
    for (const Stmt& child : s->body) Visit(child, bounds, trips);
  }

 private:
  void VisitLoop(const StmtNode& s, const Bounds& bounds, double trips) {
    const int64_t most = BoundsOf(s.extent, bounds).max;
    const double extent = most < (int64_t{1} << 40) ? static_cast<double>(most)
                                                    : MeanTrips(s.extent).value_or(kGuessedExtent);
    if (extent <= 0) return;
    path_.push_back(static_cast<int>(summary_.loops.size()));
    summary_.loops.push_back({&s, extent, trips});
    Bounds inner = bounds;
    inner.PushLoop(s);
    Visit(s.body[0], inner, trips * extent);
    path_.pop_back();
  }

  void VisitAlloc(const StmtNode& s, const Bounds& bounds, double trips) {
    double bytes = 0;
    if (s.buffer->scope == Scope::kRegister) {
      bytes = static_cast<double>(s.buffer->SizeBytes());
    }
    live_bytes_ += bytes;
    Visit(s.body[0], bounds, trips);
    live_bytes_ -= bytes;
  }

  void VisitStore(const StmtNode& s, double trips) {
    StoreInfo info{&s, path_, trips, {}, live_bytes_};
    CountOps(s.value, Path(), 1, info.ops);
    info.ops.stores += 1;
    summary_.totals.AddScaled(info.ops, trips);
    summary_.stores.push_back(std::move(info));
    AddLoads(s.value, trips);
    for (const Expr& index : s.indices) AddLoads(index, trips);
    AddAccess(s.buffer.get(), s.indices, true, trips);
  }

  LoopPath Path() const {
    LoopPath path;
    for (const int position : path_) path.push_back(&summary_.loops[static_cast<size_t>(position)]);
    return path;
  }

  void AddLoads(const Expr& e, double trips) { AddLoads(e, Path(), trips, 1); }

  void AddLoads(const Expr& e, const LoopPath& path, double trips, double share) {
    if (share <= 0) return;
    if (e->kind == ExprKind::kSelect) {
      const Shares shares = SharesOf(e, path, share);
      AddLoads(e->operands[0], path, trips, share);
      AddLoads(e->operands[1], path, trips, shares.then);
      AddLoads(e->operands[2], path, trips, shares.otherwise);
      return;
    }
    for (const Expr& operand : e->operands) AddLoads(operand, path, trips, share);
    if (e->kind == ExprKind::kLoad) AddAccess(e->buffer.get(), e->operands, false, trips * share);
  }

  void AddAccess(const BufferNode* buffer, const std::vector<Expr>& indices, bool is_store,
                 double trips) {
    AccessInfo access{buffer, is_store, trips, {}, path_};
    for (const Expr& index : indices) access.indices.push_back(Linear::Of(index));
    summary_.accesses.push_back(std::move(access));
  }

  LaunchSummary& summary_;
  std::vector<int> path_;
  double live_bytes_ = 0;
};

// How many values beyond the first an atom takes while the `inner` loops run.
double Width(const LaunchSummary& summary, const AccessInfo& access, const Expr& atom,
             const std::vector<bool>& inner) {
  double width = 0;
  for (const int position : access.path) {
    if (!inner[static_cast<size_t>(position)]) continue;
    const LoopInfo& loop = summary.loops[static_cast<size_t>(position)];
    if (!UsesVar(atom, loop.loop->var)) continue;
    double step = 1;
    int64_t divisor = 0;
    if (atom->kind == ExprKind::kBinary && atom->binary_op == BinaryOp::kFloorDiv &&
        IsConstInt(atom->operands[1], &divisor) && divisor > 0) {
      step = 1.0 / static_cast<double>(divisor);
    }
    width += std::ceil((loop.extent - 1) * step);
  }
  return width;
}

}  // namespace

void OpCounts::AddScaled(const OpCounts& other, double factor) {
  fma += other.fma * factor;
  add += other.add * factor;
  mul += other.mul * factor;
  div += other.div * factor;
  special += other.special * factor;
  extremum += other.extremum * factor;
  compare += other.compare * factor;
  integer += other.integer * factor;
  loads += other.loads * factor;
  stores += other.stores * factor;
}

int LaunchSummary::MainStore() const {
  int best = -1;
  double most = -1;
  for (size_t i = 0; i < stores.size(); ++i) {
    const double work = stores[i].trips * (stores[i].ops.Flops() + 0.5);
    if (work > most) {
      most = work;
      best = static_cast<int>(i);
    }
  }
  return best;
}

double LaunchSummary::GridSize() const {
  double size = 1;
  for (const LoopInfo& info : loops) {
    if (info.loop->loop_kind == LoopKind::kParallel) size *= info.extent;
  }
  return size;
}

LaunchSummary Summarise(const Launch& launch) {
  LaunchSummary summary;
  Summariser(summary).Visit(launch.body, Bounds(), 1);
  return summary;
}

std::vector<double> TouchedExtents(const LaunchSummary& summary, const AccessInfo& access,
                                   const std::vector<bool>& inner) {
  std::vector<double> extents;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    double extent = 1;
    for (const auto& [atom, coefficient] : access.indices[d].terms()) {
      extent += std::abs(static_cast<double>(coefficient)) * Width(summary, access, atom, inner);
    }
    const BufferNode& buffer = *access.buffer;
    const auto padded = buffer.layout.PaddedExtent(static_cast<int>(d), buffer.shape[d]);
    extents.push_back(std::min(extent, static_cast<double>(padded)));
  }
  return extents;
}

bool DependsOn(const LaunchSummary& summary, const AccessInfo& access, int position) {
  const Expr& var = summary.loops[static_cast<size_t>(position)].loop->var;
  for (const Linear& index : access.indices) {
    for (const Linear::Term& term : index.terms()) {
      if (UsesVar(term.atom, var)) return true;
    }
  }
  return false;
}

}  // namespace hone::loop
