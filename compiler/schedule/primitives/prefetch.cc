#include "compiler/schedule/primitives/prefetch.h"

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Expr;
using loop::Stmt;

namespace {

// The first load of the buffer below `s`, with the loops between it and `s`.
bool FindLoad(const Stmt& s, const std::string& buffer, std::vector<Stmt>* loops, Expr* load) {
  loop::ForEachExpr(*s, [&](const Expr& e) {
    loop::Walk(e, [&](const Expr& node) {
      if (!*load && node->kind == loop::ExprKind::kLoad && node->buffer->name == buffer) {
        *load = node;
      }
    });
  });
  if (*load) return true;
  if (s->kind == loop::StmtKind::kFor) loops->push_back(s);
  for (const Stmt& child : s->body) {
    if (FindLoad(child, buffer, loops, load)) return true;
  }
  if (s->kind == loop::StmtKind::kFor) loops->pop_back();
  return false;
}

Stmt Around(const Site& site, const std::string& name) {
  for (const auto& [ancestor, child] : site.path) {
    if (ancestor->kind == loop::StmtKind::kFor && ancestor->var->name == name) return ancestor;
  }
  return nullptr;
}

}  // namespace

absl::Status PrefetchAhead(loop::Nest* nest, const std::string& name, const std::string& buffer,
                           const PrefetchOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, name));
  std::vector<Stmt> inside;
  Expr load;
  if (!FindLoad(site.stmt->body[0], buffer, &inside, &load)) {
    return absl::FailedPreconditionError(
        fmt::format("loop '{}' does not load '{}', which was to be prefetched", name, buffer));
  }
  const Stmt ahead = Around(site, options.ahead);
  const Stmt turn = Around(site, options.turn);
  if (ahead == nullptr || (!options.turn.empty() && turn == nullptr)) {
    return absl::FailedPreconditionError(fmt::format("loops '{}' and '{}' must be around loop '{}'",
                                                     options.ahead, options.turn, name));
  }
  loop::VarMap vars;
  const Expr last = ahead->min + ahead->extent - Expr(1);
  vars[ahead->var.get()] = loop::Min(ahead->var + Expr(options.distance), last);
  Bounds bounds = BoundsAt(site);
  bounds.PushLoop(*site.stmt);
  const auto extent_of = [&](const Stmt& loop) {
    return BoundsOf(LinearForm(loop->extent, bounds), bounds);
  };
  int64_t places = 1;  // of `inner`
  for (const Stmt& loop : inside) {
    if (loop->var->name == options.inner && extent_of(loop).HasMax()) places = extent_of(loop).max;
  }
  for (const Stmt& loop : inside) {
    Expr place = loop->min;
    const loop::Interval extent = extent_of(loop);
    // In the body of `ahead`'s last iteration the extent may be shorter; what is prefetched is
    // bounded by the longest.
    if (loop->var->name == options.inner && turn != nullptr && extent.HasMax()) {
      place = place + loop::FloorMod(turn->var - turn->min, extent.max);
    }
    if (loop->var->name == options.also && turn != nullptr && extent.HasMax()) {
      place = place + loop::FloorMod(loop::FloorDiv(turn->var - turn->min, places), extent.max);
    }
    vars[loop->var.get()] = place;
  }
  std::vector<Expr> indices;
  for (size_t d = 0; d < load->operands.size(); ++d) {
    Expr index = loop::Substitute(load->operands[d], vars);
    const int64_t padded =
        load->buffer->layout.PaddedExtent(static_cast<int>(d), load->buffer->shape[d]);
    index = loop::Min(loop::Max(index, 0), padded - 1);  // where that is not so anyway
    indices.push_back(Simplify(index, bounds));
  }
  Stmt body = loop::Seq(
      {loop::Prefetch(load->buffer, std::move(indices), options.locality), site.stmt->body[0]});
  ReplaceAt(nest, site,
            loop::For(site.stmt->var, site.stmt->min, site.stmt->extent, std::move(body),
                      site.stmt->loop_kind));
  return absl::OkStatus();
}

}  // namespace hone::schedule
