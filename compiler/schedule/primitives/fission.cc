#include "compiler/schedule/primitives/fission.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/dependence.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

namespace {

// Both halves touch one element of the accumulator an iteration, the same one.
absl::Status CheckSeparable(const Stmt& init, const Stmt& update, const std::vector<Stmt>& loops,
                            const Bounds& bounds) {
  const auto refuse = [&](const char* why) {
    return absl::FailedPreconditionError(fmt::format(
        "the initialisation of '{}' cannot leave its loops: {}", init->buffer->name, why));
  };
  if (!InjectiveIn(init->indices, loops, bounds)) return refuse("iterations share elements");
  bool same = true;
  bool feeds = false;
  loop::Walk(
      update,
      [&](const Stmt& s) {
        if (s->kind == StmtKind::kStore && s->buffer == init->buffer) {
          for (size_t d = 0; d < s->indices.size(); ++d) {
            same = same && loop::StructuralEqual(s->indices[d], init->indices[d]);
          }
        }
        if (s->kind == StmtKind::kStore) {
          loop::Walk(init->value, [&](const Expr& e) {
            feeds = feeds || (e->kind == loop::ExprKind::kLoad && e->buffer == s->buffer);
          });
        }
        return true;
      },
      [&](const Expr& e) {
        if (e->kind != loop::ExprKind::kLoad || e->buffer != init->buffer) return;
        for (size_t d = 0; d < e->operands.size(); ++d) {
          same = same && loop::StructuralEqual(e->operands[d], init->indices[d]);
        }
      });
  if (!same) return refuse("the update reads or writes other elements");
  if (feeds) return refuse("its value depends on the update");
  return absl::OkStatus();
}

}  // namespace

absl::Status DecomposeReduction(loop::Nest* nest, const Loop& loop) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  std::vector<Stmt> loops;
  Bounds bounds = BoundsAt(site);
  Stmt s = site.stmt;
  while (s->kind == StmtKind::kFor) {
    loops.push_back(s);
    bounds.PushLoop(*s);
    s = s->body[0];
  }
  if (s->kind != StmtKind::kSeq || s->body.size() < 2 || s->body[0]->kind != StmtKind::kStore) {
    return absl::FailedPreconditionError(
        fmt::format("loop '{}' must nest perfectly around a store that initialises and an update",
                    loop.name()));
  }
  const Stmt init = s->body[0];
  Stmt update = loop::Seq(std::vector<Stmt>(s->body.begin() + 1, s->body.end()));
  HONE_RETURN_IF_ERROR(CheckSeparable(init, update, loops, bounds));
  Stmt first = init;
  for (size_t i = loops.size(); i-- > 0;) {
    first = loop::For(loops[i]->var, loops[i]->min, loops[i]->extent, first);
    update = loop::For(loops[i]->var, loops[i]->min, loops[i]->extent, update, loops[i]->loop_kind);
  }
  first = loop::RenameFresh(first, [&](const std::string& old) {
    return UniqueLoopName(*nest, Loop(old).Init().name());
  });
  ReplaceAt(nest, site, loop::Seq({std::move(first), std::move(update)}));
  return absl::OkStatus();
}

}  // namespace hone::schedule
