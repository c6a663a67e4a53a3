#include "compiler/schedule/primitives/unswitch.h"

#include <algorithm>

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Expr;
using loop::ExprKind;
using loop::Stmt;

namespace {

Expr Conjunction(const std::vector<Expr>& parts) {
  Expr all = loop::BoolConst(true);
  for (const Expr& part : parts) all = loop::And(all, part);
  return all;
}

// The parts of a condition that no loop of the set changes, and that load nothing.
std::vector<Expr> FixedParts(const Expr& condition, const std::vector<Stmt>& loops) {
  std::vector<Expr> parts = ConjunctsOf(condition);
  std::erase_if(parts, [&](const Expr& part) {
    return part->kind == ExprKind::kInt || loop::HasLoad(part) ||
           std::any_of(loops.begin(), loops.end(),
                       [&](const Stmt& loop) { return loop::UsesVar(part, loop->var); });
  });
  return parts;
}

bool Same(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return loop::StructuralEqual(x, y); });
}

// Conditions with these fixed parts, under the assumption that all hold or that not all do.
class Assume : public loop::Mutator {
 public:
  Assume(const std::vector<Stmt>& loops, const std::vector<Expr>& fixed, bool hold)
      : loops_(loops), fixed_(fixed), hold_(hold) {}
  Expr Rewrite(const Expr& e) override {
    if (e->kind != ExprKind::kSelect) return RewriteChildren(e);
    return loop::Select(Condition(e->operands[0]), Rewrite(e->operands[1]),
                        Rewrite(e->operands[2]));
  }
  Stmt Rewrite(const Stmt& s) override {
    if (s->kind != loop::StmtKind::kIf) return RewriteChildren(s);
    return loop::If(Condition(s->condition), Rewrite(s->body[0]),
                    s->body.size() > 1 ? Rewrite(s->body[1]) : nullptr);
  }

 private:
  Expr Condition(const Expr& condition) {
    if (!Same(FixedParts(condition, loops_), fixed_)) return condition;
    if (!hold_) return loop::BoolConst(false);
    std::vector<Expr> parts = ConjunctsOf(condition);
    std::erase_if(parts, [&](const Expr& part) {
      return std::any_of(fixed_.begin(), fixed_.end(),
                         [&](const Expr& f) { return loop::StructuralEqual(f, part); });
    });
    return Conjunction(parts);
  }
  const std::vector<Stmt>& loops_;
  const std::vector<Expr>& fixed_;
  bool hold_;
};

// The first condition with a fixed part.
std::vector<Expr> FindFixed(const Stmt& s, const std::vector<Stmt>& loops) {
  std::vector<Expr> fixed;
  const auto look = [&](const Expr& condition) {
    if (fixed.empty()) fixed = FixedParts(condition, loops);
  };
  loop::Walk(
      s,
      [&](const Stmt& node) {
        if (node->kind == loop::StmtKind::kIf) look(node->condition);
        return true;
      },
      [&](const Expr& e) {
        if (e->kind == ExprKind::kSelect) look(e->operands[0]);
      });
  return fixed;
}

}  // namespace

absl::Status Unswitch(loop::Nest* nest, const Loop& unswitched) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, unswitched));
  std::vector<Stmt> grid;  // parallel loops stay where they are
  Bounds bounds = BoundsAt(site);
  Stmt target = site.stmt;
  while (target->kind == loop::StmtKind::kFor && target->loop_kind == loop::LoopKind::kParallel) {
    grid.push_back(target);
    bounds.PushLoop(*target);
    target = target->body[0];
  }
  const std::vector<Stmt> loops = loop::CollectLoops(target);
  const std::vector<Expr> fixed = FindFixed(target, loops);
  if (fixed.empty()) return absl::OkStatus();
  const Stmt then = Simplify(Assume(loops, fixed, true).Rewrite(target), bounds);
  const Stmt otherwise = loop::RenameFresh(
      Simplify(Assume(loops, fixed, false).Rewrite(target), bounds),
      [&](const std::string& old) { return UniqueLoopName(*nest, old + "_else"); });
  Stmt result = otherwise;
  if (!loop::IsEmpty(then)) {
    result = loop::If(Conjunction(fixed), then, loop::IsEmpty(otherwise) ? nullptr : otherwise);
  } else if (!loop::IsEmpty(otherwise)) {
    result = loop::If(loop::Unary(loop::UnaryOp::kNot, Conjunction(fixed)), otherwise);
  }
  for (size_t i = grid.size(); i-- > 0;) {
    result = loop::For(grid[i]->var, grid[i]->min, grid[i]->extent, std::move(result),
                       grid[i]->loop_kind);
  }
  ReplaceAt(nest, site, std::move(result));
  return absl::OkStatus();
}

}  // namespace hone::schedule
