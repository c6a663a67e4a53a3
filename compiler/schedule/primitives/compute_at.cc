#include "compiler/schedule/primitives/compute_at.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/access_check.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/region.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Buffer;
using loop::Expr;
using loop::Linear;
using loop::Stmt;

namespace {

// The part of the buffer that is computed: of each dimension the first index, how far the next ones
// are apart, and how many there are.
struct Box {
  std::vector<Linear> low;
  std::vector<int64_t> step;
  std::vector<Expr> extent;
  std::vector<int64_t> shape;  // largest extents
};

// x / step, which leaves no rest.
Linear Over(const Linear& x, int64_t step, const Bounds& bounds) {
  return step == 1 ? x : LinearForm(loop::FloorDiv(x.ToExpr(), step), bounds);
}

// Accesses of `from` become accesses of `to`, relative to the box.
class Rebase : public loop::Mutator {
 public:
  Rebase(const Buffer& from, const Buffer& to, const Box& box, const Bounds& bounds)
      : from_(from), to_(to), box_(box), bounds_(bounds) {}
  Expr Rewrite(const Expr& e) override {
    if ((e->uses & loop::UseBit(from_.get())) == 0) return e;
    if (e->kind != loop::ExprKind::kLoad || e->buffer != from_) return RewriteChildren(e);
    return loop::Load(to_, Relative(e->operands));
  }
  Stmt Rewrite(const Stmt& s) override {
    if (s->kind != loop::StmtKind::kStore || s->buffer != from_) return RewriteChildren(s);
    return loop::Store(to_, Relative(s->indices), Rewrite(s->value));
  }

 private:
  std::vector<Expr> Relative(const std::vector<Expr>& indices) {
    std::vector<Expr> relative;
    for (size_t d = 0; d < indices.size(); ++d) relative.push_back(Relative(indices[d], d));
    return relative;
  }
  // Loads of one statement share most of their indices.
  const Expr& Relative(const Expr& index, size_t d) {
    const auto [it, inserted] = relative_.try_emplace(std::pair(index.get(), d), Expr());
    if (!inserted) return it->second;
    Linear form = LinearForm(index, bounds_);
    form.Add(box_.low[d], -1);
    it->second = Over(form, box_.step[d], bounds_).ToExpr();
    return it->second;
  }
  const Buffer& from_;
  const Buffer& to_;
  const Box& box_;
  const Bounds& bounds_;
  absl::flat_hash_map<std::pair<const loop::ExprNode*, size_t>, Expr> relative_;
};

// `beyond`: the box has elements that the buffer lacks, as tiles that are always whole do. With
// `within` it is cut where the buffer ends: what is behind that is not read, if by bounds that say
// so only of loops with iterations.
absl::StatusOr<Box> BoxOf(const Region& region, const Buffer& buffer, const Bounds& bounds,
                          const ComputeAtOptions& options, bool within, bool* beyond) {
  Box box;
  *beyond = false;
  for (size_t d = 0; d < region.dims.size(); ++d) {
    Linear low = region.dims[d].low;
    Linear high = region.dims[d].high;
    const int64_t last = buffer->shape[d] - 1;
    int64_t step = options.align.empty() || options.align[d] == 1 ? region.dims[d].step : 1;
    if (BoundsOf(low, bounds).min < 0) {  // read below a condition: what lies outside is not read
      low = LinearForm(loop::Max(low.ToExpr(), 0), bounds);
      step = 1;
    }
    if (RangeOf(high, bounds).max > last) {
      *beyond = true;
      if (within) high = LinearForm(loop::Min(high.ToExpr(), last), bounds);
    }
    Linear extent = high;
    extent.Add(low, -1);
    extent = Over(extent, step, bounds);
    extent.AddConstant(1);
    if (!options.align.empty() && options.align[d] > 1) {
      const int64_t align = options.align[d];
      const Expr rounded = loop::FloorDiv(extent.ToExpr() + Expr(align - 1), align);
      Linear aligned;
      aligned.Add(LinearForm(rounded, bounds), align);
      Linear end = low;
      end.Add(aligned);
      if (RangeOf(end, bounds).max > last + 1) *beyond = true;
      extent = aligned;
    }
    const loop::Interval range = RangeOf(extent, bounds);
    if (!range.HasMax()) {
      return absl::FailedPreconditionError(
          fmt::format("the region of '{}' that is read has no constant bound in dimension {}",
                      buffer->name, d));
    }
    box.low.push_back(std::move(low));
    box.step.push_back(step);
    box.extent.push_back(extent.ToExpr());
    box.shape.push_back(std::max<int64_t>(range.max, 1));
  }
  return box;
}

int64_t CountLoads(const Expr& e, const Buffer& buffer) {
  if ((e->uses & loop::UseBit(buffer.get())) == 0) return 0;
  int64_t loads = e->kind == loop::ExprKind::kLoad && e->buffer == buffer ? 1 : 0;
  for (const Expr& operand : e->operands) loads += CountLoads(operand, buffer);
  return loads;
}

int64_t CountLoads(const loop::Nest& nest, const Buffer& buffer, size_t skip) {
  int64_t loads = 0;
  for (size_t i = 0; i < nest.launches.size(); ++i) {
    if (i == skip) continue;
    loop::Walk(nest.launches[i].body, [&](const Stmt& s) {
      loop::ForEachExpr(*s, [&](const Expr& e) { loads += CountLoads(e, buffer); });
      return true;
    });
  }
  return loads;
}

Buffer MakeLocal(const Buffer& buffer, const Box& box, const ComputeAtOptions& options) {
  auto local = std::make_shared<loop::BufferNode>();
  local->name = buffer->name;
  local->dtype = buffer->dtype;
  local->shape = box.shape;
  for (size_t d = 0; d < options.slack.size(); ++d) local->shape[d] += options.slack[d];
  const int rank = static_cast<int>(box.shape.size());
  local->layout = Layout::RowMajor(rank);
  if (!options.layout.empty()) {
    if (const auto parsed = Layout::Parse(options.layout, rank)) local->layout = *parsed;
  }
  local->scope = options.scope;
  return local;
}

absl::Status CheckOptions(const ComputeAtOptions& options, const loop::BufferNode& buffer) {
  const size_t rank = buffer.shape.size();
  const auto all_from = [](const std::vector<int64_t>& values, int64_t least) {
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v >= least; });
  };
  const bool fits = (options.align.empty() || options.align.size() == rank) &&
                    (options.slack.empty() || options.slack.size() == rank);
  if (fits && all_from(options.align, 1) && all_from(options.slack, 0)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "'{}' of rank {} needs as many alignments, from 1, and slacks, from 0", buffer.name, rank));
}

// The stage's loops over the box only. Loops keep their order in the launch.
Stmt ProducerOver(const Box& box, const StageNest& stage, const Stmt& launch_body) {
  loop::VarMap vars;
  std::vector<Expr> fresh;
  for (size_t d = 0; d < stage.loops.size(); ++d) {
    fresh.push_back(loop::Var(stage.loops[d]->var->name));
    vars[stage.loops[d]->var.get()] = box.low[d].ToExpr() + fresh.back() * Expr(box.step[d]);
  }
  std::vector<size_t> order;  // dimensions, outermost first
  for (Stmt s = launch_body; order.size() < stage.loops.size(); s = s->body[0]) {
    for (size_t d = 0; d < stage.loops.size(); ++d) {
      if (stage.loops[d] == s) order.push_back(d);
    }
  }
  Stmt body = loop::Substitute(stage.body, vars);
  for (size_t i = order.size(); i-- > 0;) {
    body = loop::For(fresh[order[i]], 0, box.extent[order[i]], std::move(body));
  }
  return body;
}

}  // namespace

absl::Status ComputeAt(loop::Nest* nest, const Stage& stage, const Loop& loop,
                       const ComputeAtOptions& options) {
  const std::string& name = stage.buffer();
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  if (buffer->role != loop::Role::kWorkspace && buffer->role != loop::Role::kPrepared) {
    return absl::FailedPreconditionError(fmt::format(
        "only workspace and what is prepared can be computed elsewhere, '{}' is visible outside",
        name));
  }
  HONE_RETURN_IF_ERROR(CheckOptions(options, *buffer));
  HONE_ASSIGN_OR_RETURN(const size_t writer, WriterOf(*nest, buffer));
  HONE_ASSIGN_OR_RETURN(const StageNest form, MatchStage(*nest, writer, buffer));
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  Bounds bounds = BoundsAt(site);
  bounds.PushLoop(*site.stmt);
  const Stmt& body = site.stmt->body[0];
  const Region region = RegionRead(body, buffer, bounds);
  if (site.launch <= writer || region.accesses == 0 ||
      region.accesses != CountLoads(*nest, buffer, writer)) {
    return absl::FailedPreconditionError(
        fmt::format("all readers of '{}' must be in the body of loop '{}'", name, loop.name()));
  }
  bool beyond = false;
  HONE_ASSIGN_OR_RETURN(Box box, BoxOf(region, buffer, bounds, options, false, &beyond));
  Stmt producer = ProducerOver(box, form, nest->launches[writer].body);
  AccessCheck check(bounds, buffer);
  bool holds = !beyond || check.Holds(producer);
  if (!holds) {
    HONE_ASSIGN_OR_RETURN(box, BoxOf(region, buffer, bounds, options, true, &beyond));
    producer = ProducerOver(box, form, nest->launches[writer].body);
    holds = check.Holds(producer);
  }
  if (!holds) {
    return absl::FailedPreconditionError(
        fmt::format("computing '{}' in loop '{}' would read {}, which is not known to exist", name,
                    loop.name(), check.where()));
  }
  const Buffer local = MakeLocal(buffer, box, options);
  Rebase rebase(buffer, local, box, bounds);
  Stmt moved = loop::Alloc(local, loop::Seq({rebase.Rewrite(producer), rebase.Rewrite(body)}));
  moved = Simplify(moved, bounds);
  ReplaceAt(nest, site,
            loop::For(site.stmt->var, site.stmt->min, site.stmt->extent, std::move(moved),
                      site.stmt->loop_kind));
  nest->launches.erase(nest->launches.begin() + static_cast<ptrdiff_t>(writer));
  RemoveBuffer(nest, buffer);
  return absl::OkStatus();
}

}  // namespace hone::schedule
