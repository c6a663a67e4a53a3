#include "compiler/schedule/primitives/reduce_by_lanes.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::BinaryOp;
using loop::Buffer;
using loop::Expr;
using loop::LoopKind;
using loop::Stmt;

namespace {

// The loops over results inside of the reduction's, outermost first, and what they stand around.
struct Tile {
  std::vector<Stmt> loops;
  std::vector<int64_t> shape;  // their largest extents
  Stmt store;
};

class LaneReduction {
 public:
  LaneReduction(const loop::Nest& nest, const Stmt& loop, const Tile& tile, int64_t lanes,
                int64_t vectors, bool drops_nan)
      : nest_(nest),
        loop_(loop),
        tile_(tile),
        store_(*tile.store),
        name_(loop->var->name),
        lanes_(lanes),
        vectors_(vectors),
        drops_nan_(drops_nan) {}

  // The partial results of the loop, and what combines them; `wrap` puts the loops around the
  // reduction's innermost one back.
  Stmt Make(int64_t extent, double neutral, const std::function<Stmt(Stmt)>& wrap) {
    const Buffer partials = Partials(".part", lanes_ * vectors_);
    const Expr zero = loop::Const(neutral, store_.buffer->dtype);
    std::vector<Stmt> steps = {Lanes("_zero", vectors_, lanes_, [&](const At& at) {
      return loop::Store(partials, at.Place(), zero);
    })};
    steps.push_back(wrap(Sums(partials, extent)));
    Buffer last = partials;
    std::vector<Buffer> halves;
    for (int64_t width = lanes_ * vectors_; width > 1;) {
      // Whole vectors first, also of an odd number of them.
      const int64_t all = width / lanes_;
      const int64_t next = width > lanes_ ? (all + 1) / 2 * lanes_ : width / 2;
      const Buffer half = Partials(fmt::format(".half{}", next), next);
      steps.push_back(Halve(last, half, width, next));
      halves.push_back(half);
      last = half;
      width = next;
    }
    steps.push_back(OverTile("_sum", [&](const At& at) {
      const loop::StmtNode sum = *loop::Substitute(tile_.store, at.vars);
      return loop::Store(sum.buffer, sum.indices,
                         Combine(sum.value->operands[0], loop::Load(last, at.Place(0))));
    }));
    Stmt all = loop::Seq(std::move(steps));
    for (const Buffer& half : halves) all = loop::Alloc(half, std::move(all));
    return loop::Alloc(partials, std::move(all));
  }

 private:
  // An element of the tile, and of its partial results.
  struct At {
    std::vector<Expr> tile;
    Expr lane = 0;
    loop::VarMap vars;  // from the tile's own variables

    std::vector<Expr> Place(const Expr& j) const {
      std::vector<Expr> place = tile;
      place.push_back(j);
      return place;
    }
    std::vector<Expr> Place() const { return Place(lane); }
  };

  // The partial results of every element of the tile.
  Buffer Partials(const std::string& suffix, int64_t extent) const {
    auto buffer = std::make_shared<loop::BufferNode>();
    buffer->name = store_.buffer->name + suffix;
    buffer->dtype = store_.buffer->dtype;
    buffer->shape = tile_.shape;
    buffer->shape.push_back(extent);
    buffer->layout = Layout::RowMajor(static_cast<int>(buffer->shape.size()));
    buffer->scope = loop::Scope::kRegister;
    return buffer;
  }

  Expr Combine(const Expr& a, const Expr& b) const {
    const BinaryOp op = store_.value->binary_op;
    if (drops_nan_ && op == BinaryOp::kMax) return loop::Select(loop::Lt(a, b), b, a);
    if (drops_nan_ && op == BinaryOp::kMin) return loop::Select(loop::Lt(b, a), b, a);
    return loop::Binary(op, a, b);
  }
  std::string Fresh(const Loop& loop, const std::string& suffix) const {
    return UniqueLoopName(nest_, loop.name() + suffix);
  }

  // The tile's loops around what `body` does with an element; of the step without a suffix they
  // keep their names.
  Stmt OverTile(const std::string& suffix, const std::function<Stmt(const At&)>& body) const {
    At at;
    for (const Stmt& own : tile_.loops) {
      const Expr var =
          suffix.empty() ? own->var : loop::Var(UniqueLoopName(nest_, own->var->name + suffix));
      at.vars[own->var.get()] = var;
      at.tile.push_back(var);
    }
    Stmt s = body(at);
    for (size_t i = tile_.loops.size(); i-- > 0;) {
      s = loop::For(at.tile[i], 0, loop::Substitute(tile_.loops[i]->extent, at.vars), std::move(s));
    }
    return s;
  }

  // Loops over vectors and their lanes, the tile between them, around what `body` does with an
  // element.
  Stmt Lanes(const std::string& suffix, int64_t vectors, int64_t lanes,
             const std::function<Stmt(const At&)>& body) const {
    const Expr u = loop::Var(Fresh(Loop(name_).Vectors(), suffix));
    const Expr lane = loop::Var(Fresh(Loop(name_).Lanes(), suffix));
    Stmt inner = OverTile(suffix, [&](At at) {
      at.lane = vectors > 1 ? u * Expr(lanes_) + lane : Expr(lane);
      return loop::For(lane, 0, lanes, body(at), LoopKind::kVectorize);
    });
    if (vectors == 1) return inner;
    return loop::For(u, 0, vectors, std::move(inner), LoopKind::kUnroll);
  }

  Stmt Step(const Buffer& partials, const std::string& suffix, const Expr& from, int64_t vectors,
            int64_t lanes) const {
    return Lanes(suffix, vectors, lanes, [&](const At& at) {
      loop::VarMap vars = at.vars;
      vars[loop_->var.get()] = from + at.lane;
      const Expr value = loop::Substitute(store_.value->operands[1], vars);
      return loop::Store(partials, at.Place(), Combine(loop::Load(partials, at.Place()), value));
    });
  }

  Stmt Sums(const Buffer& partials, int64_t extent) const {
    const int64_t width = lanes_ * vectors_;
    const Expr position = loop::Var(name_);
    std::vector<Stmt> parts;
    const int64_t whole = extent / width;
    if (whole > 0) {
      parts.push_back(loop::For(position, 0, whole,
                                Step(partials, "", position * Expr(width), vectors_, lanes_)));
    }
    int64_t done = whole * width;
    if (const int64_t left = (extent - done) / lanes_; left > 0) {
      parts.push_back(Step(partials, "_rest", Expr(done), left, lanes_));
      done += left * lanes_;
    }
    if (done < extent) parts.push_back(Step(partials, "_last", Expr(done), 1, extent - done));
    return loop::Seq(std::move(parts));
  }

  // The first `next` of `width` elements, with the rest added to them.
  Stmt Halve(const Buffer& from, const Buffer& to, int64_t width, int64_t next) const {
    const std::string suffix = fmt::format("_half{}", next);
    const auto pairs = [&](const std::string& part, int64_t first, int64_t count, bool paired) {
      const int64_t lanes = std::min(lanes_, count);
      return Lanes(suffix + part, count / lanes, lanes, [&](const At& at) {
        const Expr place = at.lane + Expr(first);
        Expr value = loop::Load(from, at.Place(place));
        if (paired) value = Combine(value, loop::Load(from, at.Place(place + Expr(next))));
        return loop::Store(to, at.Place(place), value);
      });
    };
    const int64_t both = width - next;
    if (both == next) return pairs("", 0, next, true);
    return loop::Seq({pairs("", 0, both, true), pairs("_odd", both, next - both, false)});
  }

  const loop::Nest& nest_;
  const Stmt& loop_;
  const Tile& tile_;
  const loop::StmtNode& store_;
  std::string name_;
  int64_t lanes_;
  int64_t vectors_;
  bool drops_nan_;
};

absl::Status Refuse(const Stmt& loop, const std::string& why) {
  return absl::FailedPreconditionError(
      fmt::format("loop '{}' cannot be reduced by lanes: {}", loop->var->name, why));
}

bool Indexes(const loop::StmtNode& store, const Expr& var) {
  return std::any_of(store.indices.begin(), store.indices.end(),
                     [&](const Expr& index) { return loop::UsesVar(index, var); });
}

// What is inside of the loop at `site`.
absl::StatusOr<Tile> MatchTile(const Site& site) {
  Tile tile;
  loop::Bounds bounds = BoundsAt(site);
  bounds.PushLoop(*site.stmt);
  Stmt s = site.stmt->body[0];
  for (; s->kind == loop::StmtKind::kFor; s = s->body[0]) {
    bounds.PushLoop(*s);
    const loop::Interval extent = BoundsOf(s->extent, bounds);
    int64_t min = 0;
    if (!extent.HasMax() || !loop::IsConstInt(s->min, &min) || min != 0) {
      return Refuse(site.stmt,
                    fmt::format("the extent of '{}' has no constant bound", s->var->name));
    }
    tile.loops.push_back(s);
    tile.shape.push_back(std::max<int64_t>(extent.max, 1));
  }
  if (s->kind != loop::StmtKind::kStore || !loop::Accumulates(*s)) {
    return Refuse(site.stmt, "its body is not c[..] = c[..] op value");
  }
  for (const Stmt& own : tile.loops) {
    if (!Indexes(*s, own->var)) {
      return Refuse(site.stmt, fmt::format("'{}' inside it is not over results", own->var->name));
    }
  }
  tile.store = s;
  return tile;
}

absl::Status Check(const Stmt& loop, const loop::StmtNode& store, int64_t lanes, int64_t vectors,
                   int64_t* extent) {
  if (lanes < 1 || vectors < 1 || !std::has_single_bit(static_cast<uint64_t>(lanes))) {
    return absl::InvalidArgumentError(fmt::format(
        "lanes are a power of two and vectors at least 1, found {} and {}", lanes, vectors));
  }
  int64_t min = 0;
  if (!loop::IsConstInt(loop->extent, extent) || !loop::IsConstInt(loop->min, &min) || min != 0) {
    return Refuse(loop, "its extent is not constant");
  }
  if (!loop::NeutralOf(store.value->binary_op, store.buffer->dtype)) {
    return Refuse(loop, "its operator has no neutral element");
  }
  if (Indexes(store, loop->var)) return Refuse(loop, "it writes an element an iteration");
  bool again = false;
  loop::Walk(store.value->operands[1], [&](const Expr& e) {
    again = again || (e->kind == loop::ExprKind::kLoad && e->buffer == store.buffer);
  });
  if (again) return Refuse(loop, "its value reads what it writes");
  return absl::OkStatus();
}

// The loops around `site`, from the inside, that belong to the same sum: they stand around nothing
// else, and what is written does not depend on them.
std::vector<Stmt> OuterLoops(const Site& site, const loop::StmtNode& store) {
  std::vector<Stmt> loops;
  for (auto it = site.path.rbegin(); it != site.path.rend(); ++it) {
    const Stmt& around = it->first;
    if (around->kind != loop::StmtKind::kFor || around->loop_kind != LoopKind::kSerial) break;
    if (Indexes(store, around->var)) break;
    loops.push_back(around);
  }
  return loops;
}

// The tile's loops stand around the steps before and behind the sum too.
absl::Status CheckExtents(const Stmt& loop, const Tile& tile, const std::vector<Stmt>& around) {
  for (const Stmt& own : tile.loops) {
    bool depends = loop::UsesVar(own->extent, loop->var);
    for (const Stmt& outer : around) depends = depends || loop::UsesVar(own->extent, outer->var);
    if (depends) {
      return Refuse(loop,
                    fmt::format("the extent of '{}' depends on the sum's loops", own->var->name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReduceByLanes(loop::Nest* nest, const Loop& reduced, int64_t lanes, int64_t vectors,
                           bool drops_nan) {
  HONE_ASSIGN_OR_RETURN(Site site, FindLoop(*nest, reduced));
  const Stmt loop = site.stmt;
  HONE_ASSIGN_OR_RETURN(const Tile tile, MatchTile(site));
  const loop::StmtNode& store = *tile.store;
  int64_t extent = 0;
  HONE_RETURN_IF_ERROR(Check(loop, store, lanes, vectors, &extent));
  const std::vector<Stmt> around = OuterLoops(site, store);
  HONE_RETURN_IF_ERROR(CheckExtents(loop, tile, around));
  for (const Stmt& outer : around) {
    site.stmt = outer;
    site.path.pop_back();
  }
  LaneReduction reduction(*nest, loop, tile, lanes, vectors, drops_nan);
  Stmt made = reduction.Make(
      extent, *loop::NeutralOf(store.value->binary_op, store.buffer->dtype), [&](Stmt inner) {
        for (const Stmt& outer : around) {
          inner = loop::For(outer->var, outer->min, outer->extent, std::move(inner));
        }
        return inner;
      });
  ReplaceAt(nest, site, std::move(made));
  return absl::OkStatus();
}

}  // namespace hone::schedule
