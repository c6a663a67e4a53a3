#include "compiler/schedule/primitives/split.h"

#include <optional>

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/region.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Expr;
using loop::Linear;
using loop::Stmt;

namespace {

// Below the loops that nest perfectly: they stay reorderable. Their bounds must not load.
Stmt Guard(const Expr& condition, const Stmt& body) {
  const bool sinks = body->kind == loop::StmtKind::kFor && !loop::HasLoad(body->extent) &&
                     !loop::HasLoad(body->min);
  if (!sinks) return loop::If(condition, body);
  return loop::For(body->var, body->min, body->extent, Guard(condition, body->body[0]),
                   body->loop_kind);
}

bool IsMultiple(const Linear& x, int64_t factor, const Bounds& bounds) {
  if (x.constant() % factor != 0) return false;
  for (const Linear::Term& term : x.terms()) {
    if (term.coefficient % factor == 0) continue;
    const Expr& atom = term.atom;
    const bool either =
        atom->kind == loop::ExprKind::kBinary &&
        (atom->binary_op == loop::BinaryOp::kMin || atom->binary_op == loop::BinaryOp::kMax);
    if (!either || !IsMultiple(LinearForm(atom->operands[0], bounds), factor, bounds) ||
        !IsMultiple(LinearForm(atom->operands[1], bounds), factor, bounds)) {
      return false;
    }
  }
  return true;
}

// Whether the relations between loops say that one tile has all iterations, of which there are
// some.
bool IsOneTile(const Linear& extent, int64_t factor, const Bounds& bounds) {
  const std::optional<Linear> least = Extreme(extent, bounds, 0, /*largest=*/false);
  const std::optional<Linear> most = Extreme(extent, bounds, 0, /*largest=*/true);
  return least && most && least->IsConstant() && most->IsConstant() && least->constant() >= 1 &&
         most->constant() <= factor;
}

}  // namespace

absl::Status Split(loop::Nest* nest, const Loop& loop, int64_t factor, Tail tail,
                   const Loop& outer_loop, const Loop& inner_loop) {
  if (factor < 1) {
    return absl::InvalidArgumentError(
        fmt::format("a split factor is at least 1, found {} for loop '{}'", factor, loop.name()));
  }
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  const Bounds bounds = BoundsAt(site);
  const Expr extent = Simplify(site.stmt->extent, bounds);
  const bool exact = IsMultiple(LinearForm(extent, bounds), factor, bounds);
  if (tail == Tail::kExact && !exact) {
    return absl::FailedPreconditionError(
        fmt::format("loop '{}' has {} iterations, which {} does not divide; split it with a tail",
                    loop.name(), loop::ToText(extent), factor));
  }
  const std::string outer = (outer_loop.empty() ? loop.Outer() : outer_loop).name();
  const std::string inner = (inner_loop.empty() ? loop.Inner() : inner_loop).name();
  const Expr o = loop::Var(outer == loop.name() ? outer : UniqueLoopName(*nest, outer));
  const Expr i = loop::Var(inner == loop.name() ? inner : UniqueLoopName(*nest, inner));
  const Expr position = o * Expr(factor) + i;
  loop::VarMap map;
  map[site.stmt->var.get()] = site.stmt->min + position;
  Stmt body = loop::Substitute(site.stmt->body[0], map);
  Expr inner_extent = factor;
  if (!exact && tail == Tail::kClip) inner_extent = loop::Min(factor, extent - o * Expr(factor));
  if (!exact && tail == Tail::kGuard) body = Guard(loop::Lt(position, extent), body);
  const bool is_one = tail == Tail::kGuard && IsOneTile(LinearForm(extent, bounds), factor, bounds);
  const Expr outer_extent =
      is_one ? Expr(1)
             : Simplify(loop::FloorDiv(exact ? extent : extent + Expr(factor - 1), factor), bounds);
  Stmt replacement =
      loop::For(o, 0, outer_extent, loop::For(i, 0, std::move(inner_extent), std::move(body)));
  ReplaceAt(nest, site, std::move(replacement));
  return absl::OkStatus();
}

}  // namespace hone::schedule
