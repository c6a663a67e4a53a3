#include "compiler/schedule/primitives/unroll_steps.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Expr;
using loop::Stmt;

namespace {

constexpr int64_t kMostSteps = 16;

// Whether an iteration may change how many there are.
bool ChangesItsExtent(const Stmt& loop) {
  bool changes = false;
  loop::Walk(loop->extent, [&](const Expr& e) {
    changes = changes || (e->kind == loop::ExprKind::kLoad && Stores(loop, e->buffer));
  });
  return changes;
}

absl::Status Check(const Stmt& loop, int64_t factor) {
  if (factor < 2 || factor > kMostSteps) {
    return absl::InvalidArgumentError(
        fmt::format("2 to {} steps can be taken at once, not {}", kMostSteps, factor));
  }
  int64_t min = 0;
  if (loop->loop_kind != loop::LoopKind::kSerial || !loop::IsConstInt(loop->min, &min) ||
      min != 0 || ChangesItsExtent(loop)) {
    return absl::FailedPreconditionError(
        fmt::format("loop '{}' is not serial, does not count from 0, or what its iterations are "
                    "counted by may change",
                    loop->var->name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UnrollSteps(loop::Nest* nest, const Loop& unrolled, int64_t factor) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, unrolled));
  const Stmt loop = site.stmt;
  HONE_RETURN_IF_ERROR(Check(loop, factor));
  // A number below zero, which a maximum may have hidden, is asked for once: what is computed of n
  // is on the way to every branch.
  Expr n = loop->extent;
  if (n->kind == loop::ExprKind::kBinary && n->binary_op == loop::BinaryOp::kMax &&
      loop::IsInt(n->operands[1], 0)) {
    n = n->operands[0];
  }
  const bool may_be_negative = loop::BoundsOf(n, BoundsAt(site)).min < 0;
  const Expr left = FloorMod(n, Expr(factor));
  const Stmt& body = loop->body[0];
  const auto at = [&](const Expr& position) {
    return loop::Substitute(body, loop::VarMap{{loop->var.get(), position}});
  };
  const Expr step = loop::Var(UniqueLoopName(*nest, unrolled.Steps().name()));
  std::vector<Stmt> parts = {loop::For(
      loop->var, 0, FloorDiv(n, Expr(factor)),
      loop::For(step, 0, factor, at(loop->var * Expr(factor) + step), loop::LoopKind::kUnroll))};
  Stmt rest;
  for (int64_t i = factor - 1; i > 0; --i) {
    const auto fresh = [&](const std::string& inner) {
      return UniqueLoopName(*nest, fmt::format("{}_rest{}", inner, i));
    };
    Stmt one = loop::RenameFresh(at(n - left + Expr(i - 1)), fresh);
    if (rest) one = loop::Seq({std::move(one), std::move(rest)});
    rest = loop::If(loop::Le(Expr(i), left), std::move(one));
  }
  parts.push_back(std::move(rest));
  Stmt all = loop::Seq(std::move(parts));
  if (may_be_negative) all = loop::If(loop::Lt(Expr(0), n), std::move(all));
  ReplaceAt(nest, site, std::move(all));
  return absl::OkStatus();
}

}  // namespace hone::schedule
