#include "compiler/schedule/primitives/local_sum.h"

#include <algorithm>
#include <vector>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Buffer;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

namespace {

bool Indexes(const Stmt& store, const Expr& var) {
  return std::any_of(store->indices.begin(), store->indices.end(),
                     [&](const Expr& index) { return loop::UsesVar(index, var); });
}

// The sum's loops below `s`, outermost first, and its store.
struct Sum {
  std::vector<Stmt> loops;
  std::vector<Stmt> axes;      // those that the sum's indices depend on
  std::vector<int64_t> shape;  // their largest extents
  Stmt store;
};

absl::StatusOr<Sum> MatchSum(const Site& site) {
  Sum sum;
  Bounds bounds = BoundsAt(site);
  bounds.PushLoop(*site.stmt);
  Stmt s = site.stmt->body[0];
  for (; s->kind == StmtKind::kFor; s = s->body[0]) {
    sum.loops.push_back(s);
    bounds.PushLoop(*s);
  }
  const auto refuse = [&](const std::string& why) {
    return absl::FailedPreconditionError(
        fmt::format("no local sum in loop '{}': {}", site.stmt->var->name, why));
  };
  if (s->kind != StmtKind::kStore || !loop::Accumulates(*s) || !IsFloat(s->buffer->dtype) ||
      s->value->binary_op != loop::BinaryOp::kAdd) {
    return refuse("its body must be a sum of floats, perfectly nested");
  }
  sum.store = s;
  for (const Stmt& inner : sum.loops) {
    if (!Indexes(s, inner->var)) continue;
    const loop::Interval extent = BoundsOf(inner->extent, bounds);
    int64_t min = 0;
    if (!extent.HasMax() || !loop::IsConstInt(inner->min, &min) || min != 0) {
      return refuse(fmt::format("the extent of '{}' has no constant bound", inner->var->name));
    }
    sum.axes.push_back(inner);
    sum.shape.push_back(std::max<int64_t>(extent.max, 1));
  }
  // The elements are set and added in loops over the axes alone.
  for (const Stmt& axis : sum.axes) {
    for (const Stmt& inner : sum.loops) {
      if (!Indexes(s, inner->var) && loop::UsesVar(axis->extent, inner->var)) {
        return refuse(
            fmt::format("the extent of '{}' depends on '{}'", axis->var->name, inner->var->name));
      }
    }
  }
  // Terms are computed before any is added.
  if (Loads(s->value->operands[1], s->buffer)) {
    return refuse(fmt::format("what it adds to '{}' reads that", s->buffer->name));
  }
  return sum;
}

}  // namespace

absl::StatusOr<Stage> SumLocally(loop::Nest* nest, const Loop& loop) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  HONE_ASSIGN_OR_RETURN(const Sum sum, MatchSum(site));
  const Stage total(sum.store->buffer->name);
  auto local = std::make_shared<loop::BufferNode>();
  local->name = total.Sums().buffer();
  local->dtype = sum.store->buffer->dtype;
  local->shape = sum.shape;
  local->layout = Layout::RowMajor(static_cast<int>(sum.shape.size()));
  local->scope = loop::Scope::kRegister;
  const Buffer acc = std::move(local);
  std::vector<Expr> at;
  for (const Stmt& axis : sum.axes) at.push_back(axis->var);
  const auto renamed = [&](const std::string& old) {
    return Loop(total.NameIn(total.Sums(), old));
  };
  const Stmt zeros = loop::RenameFresh(
      Around(sum.axes, loop::Store(acc, at, loop::Const(0, acc->dtype))),
      [&](const std::string& old) { return UniqueLoopName(*nest, renamed(old).Init().name()); });
  const Stmt terms = loop::RenameFresh(
      Around(sum.loops, loop::Store(acc, at, loop::Load(acc, at) + sum.store->value->operands[1])),
      [&](const std::string& old) { return UniqueLoopName(*nest, renamed(old).name()); });
  const Stmt add =
      Around(sum.axes, loop::Store(sum.store->buffer, sum.store->indices,
                                   sum.store->value->operands[0] + loop::Load(acc, at)));
  ReplaceAt(nest, site,
            loop::For(site.stmt->var, site.stmt->min, site.stmt->extent,
                      loop::Alloc(acc, loop::Seq({zeros, terms, add})), site.stmt->loop_kind));
  return total.Sums();
}

}  // namespace hone::schedule
