#include "compiler/schedule/primitives/prefetch.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/region.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Buffer;
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

namespace {

// What the variables of the loops, outermost first, become in their next iteration.
loop::VarMap NextIteration(const std::vector<Stmt>& loops) {
  loop::VarMap next;
  Expr carry(1);
  for (size_t i = loops.size(); i-- > 0;) {
    const Stmt& l = loops[i];
    const Expr reached = l->var - l->min + carry;
    if (i == 0) {
      next[l->var.get()] = l->min + loop::Min(reached, l->extent - Expr(1));
      break;
    }
    next[l->var.get()] = l->min + loop::FloorMod(reached, l->extent);
    carry = loop::FloorDiv(reached, l->extent);
  }
  return next;
}

std::vector<Stmt> LoopsAround(const Site& site, const std::vector<std::string>& names) {
  std::vector<Stmt> loops;
  for (const std::string& name : names) {
    if (const Stmt found = Around(site, name)) loops.push_back(found);
  }
  return loops;
}

// Which of all iterations of the loops, outermost first, this is; how many there are at most.
struct Turn {
  Expr number{0};
  int64_t count = 1;
};
std::optional<Turn> TurnOf(const std::vector<Stmt>& loops, const Bounds& bounds) {
  Turn turn;
  for (const Stmt& l : loops) {
    const loop::Interval extent = BoundsOf(l->extent, bounds);
    if (!extent.HasMax()) return std::nullopt;
    turn.number = turn.number * Expr(extent.max) + (l->var - l->min);
    turn.count *= extent.max;
  }
  return turn;
}

// How many indices of each axis are read at most; empty where they are not bounded.
std::vector<int64_t> SizesOf(const Region& region, const Bounds& bounds) {
  std::vector<int64_t> sizes;
  for (const Region::Dim& dim : region.dims) {
    loop::Linear distance = dim.high;
    distance.Add(dim.low, -1);
    const loop::Interval range = BoundsOf(distance, bounds);
    if (!range.HasMax()) return {};
    sizes.push_back(range.max / dim.step + 1);
  }
  return sizes;
}

// Whether the loops are below `outer` on the way to `site`, or are that itself.
bool AreWithin(const Stmt& outer, const std::vector<Stmt>& loops, const Site& site) {
  bool inside = false;
  for (const auto& [ancestor, child] : site.path) {
    if (!inside && std::find(loops.begin(), loops.end(), ancestor) != loops.end()) return false;
    inside |= ancestor == outer;
  }
  return inside;
}

bool AreSpreadAxes(const PrefetchRegionOptions& options) {
  const std::set<size_t> axes(options.spread_axes.begin(), options.spread_axes.end());
  return !axes.empty() && axes.size() == options.spread_axes.size() &&
         !axes.contains(options.line_axis);
}

}  // namespace

absl::Status PrefetchRegion(loop::Nest* nest, const std::string& name,
                            const PrefetchRegionOptions& options) {
  const auto refuse = [&](const char* why) {
    return absl::FailedPreconditionError(fmt::format("'{}' cannot be prefetched: {}", name, why));
  };
  if (options.turns.empty()) return refuse("there is no loop to do it in");
  if (!AreSpreadAxes(options)) return refuse("its lines cannot be spread");
  if (options.line_elements < 1) return refuse("a line of it has no elements");
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, options.turns.back()));
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  const size_t greatest = *std::ranges::max_element(options.spread_axes);
  if (std::max(greatest, options.line_axis) >= buffer->shape.size()) {
    return refuse("it has no such axis");
  }
  const std::vector<Stmt> ahead = LoopsAround(site, options.ahead);
  if (ahead.empty()) return refuse("none of the loops that are to be ahead is around its place");
  HONE_ASSIGN_OR_RETURN(const Site last, FindLoop(*nest, ahead.back()->var->name));
  Bounds outside = BoundsAt(last);
  outside.PushLoop(*last.stmt);
  const Region region = RegionRead(last.stmt->body[0], buffer, outside);
  if (region.loads == 0) return refuse("the loop that is to be ahead does not read it");
  std::vector<int64_t> sizes = SizesOf(region, outside);
  std::vector<Stmt> turns = LoopsAround(site, options.turns);
  if (!AreWithin(last.stmt, turns, site)) return refuse("its place is not in the loop ahead");
  turns.push_back(site.stmt);
  Bounds bounds = BoundsAt(site);
  bounds.PushLoop(*site.stmt);
  const std::optional<Turn> turn = TurnOf(turns, bounds);
  if (!turn || sizes.size() != region.dims.size()) return refuse("an extent has no constant bound");
  const loop::VarMap next = NextIteration(ahead);
  std::vector<Expr> offsets, vars;
  for (size_t d = 0; d < sizes.size(); ++d) {
    vars.push_back(loop::Var(UniqueLoopName(*nest, fmt::format("{}.ahead{}", name, d))));
    offsets.push_back(vars.back());
  }
  sizes[options.line_axis] = CeilDiv(sizes[options.line_axis], options.line_elements);
  offsets[options.line_axis] = offsets[options.line_axis] * Expr(options.line_elements);
  // What is shared is numbered, the last axis the fastest.
  int64_t count = 1;
  for (const size_t d : options.spread_axes) count *= sizes[d];
  const int64_t share = CeilDiv(count, turn->count);
  const Expr first = turn->number * Expr(share);
  const Expr shared = loop::Max(loop::Min(Expr(count) - first, share), 0);
  const size_t outermost = options.spread_axes.front();
  Expr number = first + vars[outermost];
  for (size_t i = options.spread_axes.size(); i-- > 1;) {
    const size_t d = options.spread_axes[i];
    offsets[d] = loop::FloorMod(number, sizes[d]);
    number = loop::FloorDiv(number, sizes[d]);
  }
  offsets[outermost] = number;
  for (size_t d = 0; d < sizes.size(); ++d) offsets[d] = offsets[d] * Expr(region.dims[d].step);
  std::vector<Expr> indices;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Expr index = loop::Substitute(region.dims[d].low.ToExpr(), next) + offsets[d];
    const int64_t padded = buffer->layout.PaddedExtent(static_cast<int>(d), buffer->shape[d]);
    indices.push_back(loop::Min(loop::Max(index, 0), padded - 1));
  }
  Stmt fetch = loop::Prefetch(buffer, std::move(indices), options.locality);
  for (size_t d = sizes.size(); d-- > 0;) {
    if (std::ranges::count(options.spread_axes, d) > 0) continue;
    fetch = loop::For(vars[d], 0, sizes[d], std::move(fetch), loop::LoopKind::kUnroll);
  }
  fetch = loop::For(vars[outermost], 0, shared, std::move(fetch));
  Stmt body = loop::Seq({Simplify(fetch, bounds), site.stmt->body[0]});
  ReplaceAt(nest, site,
            loop::For(site.stmt->var, site.stmt->min, site.stmt->extent, std::move(body),
                      site.stmt->loop_kind));
  return absl::OkStatus();
}

}  // namespace hone::schedule
