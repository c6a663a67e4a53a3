#include "compiler/schedule/primitives/reorder.h"

#include <algorithm>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/dependence.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::BinaryOp;
using loop::Bounds;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

namespace {

struct Body {
  Stmt store;
  bool accumulates = false;    // c[i] = c[i] op value
  bool order_matters = false;  // op is a sum or product of floats
};

absl::StatusOr<Body> MatchBody(Stmt s) {
  while (s->kind == StmtKind::kIf && s->body.size() == 1) s = s->body[0];
  const absl::Status mismatch = absl::FailedPreconditionError(
      "only loops around one store, possibly below an if, can be reordered");
  if (s->kind != StmtKind::kStore) return mismatch;
  Body body;
  body.store = s;
  if (!Loads(s->value, s->buffer)) return body;
  const Expr& value = s->value;
  if (value->kind != loop::ExprKind::kBinary) return mismatch;
  const BinaryOp op = value->binary_op;
  const bool combines =
      op == BinaryOp::kAdd || op == BinaryOp::kMul || op == BinaryOp::kMin || op == BinaryOp::kMax;
  if (!combines || !loop::Accumulates(*s) || Loads(value->operands[1], s->buffer)) {
    return mismatch;
  }
  body.accumulates = true;
  body.order_matters = (op == BinaryOp::kAdd || op == BinaryOp::kMul) && IsFloat(s->buffer->dtype);
  return body;
}

// The loops that do not say which element is stored: their relative order is that of the sum.
std::vector<Stmt> ReductionLoops(const Stmt& store, const std::vector<Stmt>& loops,
                                 const Bounds& bounds) {
  std::vector<Stmt> spatial;
  std::vector<Stmt> reduction;
  for (const Stmt& loop : loops) {
    const bool indexes =
        std::any_of(store->indices.begin(), store->indices.end(),
                    [&](const Expr& index) { return loop::UsesVar(index, loop->var); });
    (indexes ? spatial : reduction).push_back(loop);
  }
  if (!InjectiveIn(store->indices, spatial, bounds)) return loops;
  return reduction;
}

absl::Status CheckOrder(const Body& body, const std::vector<Stmt>& before,
                        const std::vector<Stmt>& after, const Bounds& bounds,
                        bool allow_reassociation) {
  for (size_t i = 0; i < after.size(); ++i) {
    for (size_t j = i + 1; j < after.size(); ++j) {
      if (loop::UsesVar(after[i]->extent, after[j]->var) ||
          loop::UsesVar(after[i]->min, after[j]->var)) {
        return absl::FailedPreconditionError(
            fmt::format("the bounds of loop '{}' depend on loop '{}', which cannot go inside it",
                        after[i]->var->name, after[j]->var->name));
      }
    }
  }
  if (body.accumulates && !body.order_matters) return absl::OkStatus();
  if (body.order_matters && allow_reassociation) return absl::OkStatus();
  std::vector<Stmt> kept = ReductionLoops(body.store, before, bounds);
  std::vector<Stmt> now;
  for (const Stmt& loop : after) {
    if (std::find(kept.begin(), kept.end(), loop) != kept.end()) now.push_back(loop);
  }
  if (now == kept) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("reordering would change the order in which '{}' is accumulated or overwritten",
                  body.store->buffer->name));
}

// The loops from the outermost named one inwards.
struct Chain {
  Site site;
  std::vector<Stmt> loops;     // down to the innermost named one
  std::vector<size_t> places;  // of the named ones
  Stmt body;
};

absl::StatusOr<Chain> ChainOf(const loop::Nest& nest, const std::vector<Loop>& loops) {
  Chain chain;
  bool found = false;  // the outermost is the one on whose way none of the others is
  for (const Loop& loop : loops) {
    HONE_ASSIGN_OR_RETURN(Site candidate, FindLoop(nest, loop));
    if (found && candidate.path.size() >= chain.site.path.size()) continue;
    chain.site = std::move(candidate);
    found = true;
  }
  Stmt s = chain.site.stmt;
  while (s->kind == StmtKind::kFor && chain.places.size() < loops.size()) {
    if (std::ranges::find(loops, s->var->name, &Loop::name) != loops.end()) {
      chain.places.push_back(chain.loops.size());
    }
    chain.loops.push_back(s);
    s = s->body[0];
  }
  if (chain.places.size() != loops.size()) {
    return absl::FailedPreconditionError(
        fmt::format("loops from '{}' inwards must be perfectly nested to be reordered",
                    chain.site.stmt->var->name));
  }
  chain.body = s;
  return chain;
}

}  // namespace

absl::Status Reorder(loop::Nest* nest, const std::vector<Loop>& loops, bool allow_reassociation) {
  if (loops.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const Chain chain, ChainOf(*nest, loops));
  std::vector<Stmt> order = chain.loops;
  for (size_t i = 0; i < loops.size(); ++i) {
    order[chain.places[i]] =
        *std::find_if(chain.loops.begin(), chain.loops.end(),
                      [&](const Stmt& loop) { return loop->var->name == loops[i].name(); });
  }
  if (order == chain.loops) return absl::OkStatus();  // of any body
  std::vector<Stmt> before = chain.loops;
  std::vector<Stmt> after = order;
  Stmt innermost = chain.body;
  for (; innermost->kind == StmtKind::kFor; innermost = innermost->body[0]) {
    before.push_back(innermost);  // does not move, but carries the sum too
    after.push_back(innermost);
  }
  Bounds bounds = BoundsAt(chain.site);
  for (const Stmt& loop : before) bounds.PushLoop(*loop);
  HONE_ASSIGN_OR_RETURN(const Body body, MatchBody(innermost));
  HONE_RETURN_IF_ERROR(CheckOrder(body, before, after, bounds, allow_reassociation));
  ReplaceAt(nest, chain.site, Around(order, chain.body));
  return absl::OkStatus();
}

}  // namespace hone::schedule
