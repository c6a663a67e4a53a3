#include "compiler/schedule/primitives/prefetch.h"

#include <algorithm>
#include <optional>
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

Stmt LoopAround(const Site& site, const Loop& loop) {
  for (const auto& [ancestor, child] : site.path) {
    if (ancestor->kind == loop::StmtKind::kFor && ancestor->var->name == loop.name()) {
      return ancestor;
    }
  }
  return nullptr;
}

}  // namespace

absl::Status PrefetchAhead(loop::Nest* nest, const Loop& reader, const std::string& buffer,
                           const PrefetchOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, reader));
  std::vector<Stmt> inside;
  Expr load;
  if (!FindLoad(site.stmt->body[0], buffer, &inside, &load)) {
    return absl::FailedPreconditionError(fmt::format(
        "loop '{}' does not load '{}', which was to be prefetched", reader.name(), buffer));
  }
  const Stmt ahead = LoopAround(site, options.ahead);
  const Stmt turn = LoopAround(site, options.turn);
  if (ahead == nullptr || (!options.turn.empty() && turn == nullptr)) {
    return absl::FailedPreconditionError(fmt::format("loops '{}' and '{}' must be around loop '{}'",
                                                     options.ahead.name(), options.turn.name(),
                                                     reader.name()));
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
    if (loop->var->name == options.inner.name() && extent_of(loop).HasMax())
      places = extent_of(loop).max;
  }
  for (const Stmt& loop : inside) {
    Expr place = loop->min;
    const loop::Interval extent = extent_of(loop);
    // In the body of `ahead`'s last iteration the extent may be shorter; what is prefetched is
    // bounded by the longest.
    if (loop->var->name == options.inner.name() && turn != nullptr && extent.HasMax()) {
      place = place + loop::FloorMod(turn->var - turn->min, extent.max);
    }
    if (loop->var->name == options.also.name() && turn != nullptr && extent.HasMax()) {
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

// What the variables of the loops, outermost first, become so many iterations later.
loop::VarMap IterationAhead(const std::vector<Stmt>& loops, int64_t distance) {
  loop::VarMap next;
  Expr carry(distance);
  for (size_t i = loops.size(); i-- > 0;) {
    const Stmt& l = loops[i];
    const Expr reached = l->var - l->min + carry;
    if (i == 0) {
      next[l->var.get()] = l->min + loop::Min(reached, l->extent - Expr(1));
      break;
    }
    if (distance == 1) {  // the carry is 0 or 1: no division where it is done at every step
      const Expr is_over = loop::Lt(l->extent - Expr(1), reached);
      next[l->var.get()] = l->min + loop::Select(is_over, Expr(0), reached);
      carry = loop::Select(is_over, Expr(1), Expr(0));
      continue;
    }
    next[l->var.get()] = l->min + loop::FloorMod(reached, l->extent);
    carry = loop::FloorDiv(reached, l->extent);
  }
  return next;
}

std::vector<Stmt> LoopsAround(const Site& site, const std::vector<Loop>& wanted) {
  std::vector<Stmt> loops;
  for (const Loop& loop : wanted) {
    if (const Stmt found = LoopAround(site, loop)) loops.push_back(found);
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

// How many indices of each axis are touched at most; empty where they are not bounded.
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

// A part of an index of one axis: `extent` values, `unit` apart. What a faster one leaves of a
// number is its own.
struct Digit {
  size_t axis = 0;
  int64_t extent = 1, unit = 1;
  int64_t stride = 1;     // in memory, in elements, of its values
  bool is_outer = false;  // not within a block: further values go on in memory
  bool is_whole = false;  // there are no other values
};

// `slow` follows where `fast` ends: in memory, or within the axis.
bool GoesOn(const Digit& fast, const Digit& slow) {
  if (fast.is_outer) {
    return fast.is_whole && slow.stride == fast.extent * fast.stride;
  }
  return fast.axis == slow.axis && slow.unit == fast.extent * fast.unit;
}

// The digits of every index but those that lines take of `line_axis` (a block of it, or all where
// it has none), as they follow one another in memory, the fastest first, few of them: what goes on
// where another ends is that other's. There are `sizes` indices of each axis, `steps` apart. Blocks
// that are read in part, or from within, count as whole ones.
std::vector<Digit> MemoryOrder(const loop::BufferNode& buffer, const std::vector<int64_t>& sizes,
                               const std::vector<int64_t>& steps, size_t line_axis) {
  std::vector<Digit> digits;
  std::vector<int64_t> left = sizes, unit = steps;
  const std::vector<Layout::Dim>& dims = buffer.layout.dims();
  const std::vector<int64_t> physical = buffer.layout.PhysicalShape(buffer.shape);
  const bool has_line_block = buffer.layout.BlockOf(static_cast<int>(line_axis)) > 1;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= physical[i]) {
    const auto axis = static_cast<size_t>(dims[i].axis);
    const bool is_outer = dims[i].factor == 0;
    if (!is_outer && steps[axis] != 1) continue;
    const int64_t extent = is_outer ? left[axis] : std::min(left[axis], dims[i].factor);
    Digit digit{axis, extent, unit[axis], stride * steps[axis], is_outer};
    digit.is_whole = steps[axis] == 1 && extent == physical[i];
    left[axis] = CeilDiv(left[axis], extent);
    unit[axis] *= extent;
    const bool is_in_lines = axis == line_axis && is_outer != has_line_block;
    if (extent == 1 || is_in_lines) continue;
    if (!digits.empty() && GoesOn(digits.back(), digit)) {
      digits.back().extent *= extent;
    } else {
      digits.push_back(digit);
    }
  }
  return digits;
}

// Those of the fastest's values that lie in one line come with one of them.
void KeepOneALine(int64_t line_elements, std::vector<Digit>* digits) {
  if (digits->empty()) return;
  Digit& fastest = digits->front();
  const int64_t together = std::max<int64_t>(line_elements / fastest.stride, 1);
  fastest.extent = CeilDiv(fastest.extent, together);
  fastest.unit *= together;
}

// How many indices lines take of their axis.
int64_t SizeInLines(const loop::BufferNode& buffer, const std::vector<int64_t>& sizes,
                    size_t line_axis) {
  const int64_t block = buffer.layout.BlockOf(static_cast<int>(line_axis));
  return block > 1 ? std::min(block, sizes[line_axis]) : sizes[line_axis];
}

// The offsets of each axis that the digits of `number` make.
void AddDigits(const std::vector<Digit>& digits, Expr number, std::vector<Expr>* offsets) {
  for (size_t i = 0; i < digits.size(); ++i) {
    const Digit& digit = digits[i];
    const Expr value = i + 1 == digits.size() ? number : loop::FloorMod(number, digit.extent);
    Expr& offset = (*offsets)[digit.axis];
    offset = offset + value * Expr(digit.unit);
    number = loop::FloorDiv(number, digit.extent);
  }
}

// Where the region starts, as far as that is in the buffer, and `offsets` from there.
std::vector<Expr> IndicesFrom(const Region& region, const loop::VarMap& iteration,
                              const loop::BufferNode& buffer, const std::vector<Expr>& offsets) {
  std::vector<Expr> indices;
  for (size_t d = 0; d < offsets.size(); ++d) {
    const Expr low = loop::Substitute(region.dims[d].low.ToExpr(), iteration);
    const int64_t padded = buffer.layout.PaddedExtent(static_cast<int>(d), buffer.shape[d]);
    indices.push_back(loop::Min(loop::Max(low, 0), padded - 1) + offsets[d]);
  }
  return indices;
}

// How many of `count` in each of so many turns: all the same, where that takes few turns less.
int64_t ShareOf(int64_t count, int64_t turns) {
  const int64_t least = CeilDiv(count, turns);
  for (int64_t share = least; 2 * share <= 3 * least; ++share) {
    if (count % share == 0 && 2 * count > turns * share) return share;
  }
  return least;
}

// The buffer as it is known there: of the nest, or allocated around.
absl::StatusOr<Buffer> BufferAt(const loop::Nest& nest, const Site& site, const std::string& name) {
  for (const auto& [ancestor, child] : site.path) {
    if (ancestor->kind == loop::StmtKind::kAlloc && ancestor->buffer->name == name) {
      return ancestor->buffer;
    }
  }
  return FindBuffer(nest, name);
}

// The last of the loops that there is.
std::optional<Site> InnermostOf(const loop::Nest& nest, const std::vector<Loop>& loops) {
  for (size_t i = loops.size(); i-- > 0;) {
    if (absl::StatusOr<Site> site = FindLoop(nest, loops[i]); site.ok()) return *std::move(site);
  }
  return std::nullopt;
}

}  // namespace

absl::Status PrefetchRegion(loop::Nest* nest, const std::string& name,
                            const PrefetchRegionOptions& options) {
  const auto refuse = [&](const char* why) {
    return absl::FailedPreconditionError(fmt::format("'{}' cannot be prefetched: {}", name, why));
  };
  if (options.line_elements < 1) return refuse("a line of it has no elements");
  if (options.distance < 1) return refuse("what is read now is no later iteration's");
  const std::optional<Site> place_of = InnermostOf(*nest, options.turns);
  if (!place_of) return refuse("there is no loop to do it in");
  const Site& site = *place_of;
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, BufferAt(*nest, site, name));
  if (options.line_axis >= buffer->shape.size()) return refuse("it has no such axis");
  const std::vector<Stmt> ahead = LoopsAround(site, options.ahead);
  if (ahead.empty()) return refuse("none of the loops that are to be ahead is around its place");
  HONE_ASSIGN_OR_RETURN(const Site last, FindLoop(*nest, Loop(ahead.back()->var->name)));
  Bounds outside = BoundsAt(last);
  outside.PushLoop(*last.stmt);
  const Region region = RegionTouched(last.stmt->body[0], buffer, outside);
  if (region.accesses == 0)
    return refuse("the loop that is to be ahead neither reads nor writes it");
  std::vector<int64_t> sizes = SizesOf(region, outside);
  std::vector<Stmt> turns = LoopsAround(site, options.turns);
  if (!AreWithin(last.stmt, turns, site)) return refuse("its place is not in the loop ahead");
  turns.push_back(site.stmt);
  Bounds bounds = BoundsAt(site);
  bounds.PushLoop(*site.stmt);
  const std::optional<Turn> turn = TurnOf(turns, bounds);
  if (!turn || sizes.size() != region.dims.size()) return refuse("an extent has no constant bound");
  const loop::VarMap next = IterationAhead(ahead, options.distance);
  std::vector<int64_t> steps;
  for (const Region::Dim& dim : region.dims) steps.push_back(dim.step);
  std::vector<Digit> digits = MemoryOrder(*buffer, sizes, steps, options.line_axis);
  KeepOneALine(options.line_elements, &digits);
  int64_t count = 1;
  for (const Digit& digit : digits) count *= digit.extent;
  const int64_t share = ShareOf(count, turn->count);
  const int64_t shares = CeilDiv(count, share);
  const Expr place = loop::Var(UniqueLoopName(*nest, Stage(name).PrefetchPlace().name()));
  const Expr line = loop::Var(UniqueLoopName(*nest, Stage(name).PrefetchLine().name()));
  Expr number = turn->number * Expr(share) + place;
  if (count % share != 0) number = loop::Min(number, count - 1);
  std::vector<Expr> offsets(sizes.size(), Expr(0));
  offsets[options.line_axis] = line * Expr(options.line_elements * steps[options.line_axis]);
  AddDigits(digits, number, &offsets);
  std::vector<Expr> indices = IndicesFrom(region, next, *buffer, offsets);
  Stmt fetch = loop::Prefetch(buffer, std::move(indices), options.locality);
  const int64_t lines =
      CeilDiv(SizeInLines(*buffer, sizes, options.line_axis), options.line_elements);
  fetch = loop::For(line, 0, lines, std::move(fetch), loop::LoopKind::kUnroll);
  fetch = loop::For(place, 0, share, std::move(fetch), loop::LoopKind::kUnroll);
  if (shares < turn->count) fetch = loop::If(loop::Lt(turn->number, shares), std::move(fetch));
  Stmt body = loop::Seq({Simplify(fetch, bounds), site.stmt->body[0]});
  ReplaceAt(nest, site,
            loop::For(site.stmt->var, site.stmt->min, site.stmt->extent, std::move(body),
                      site.stmt->loop_kind));
  return absl::OkStatus();
}

}  // namespace hone::schedule
