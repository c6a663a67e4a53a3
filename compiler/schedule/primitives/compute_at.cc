#include "compiler/schedule/primitives/compute_at.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/region.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

namespace {

// The part of the buffer that is computed: first index and extent of each dimension.
struct Box {
  std::vector<Linear> low;
  std::vector<Expr> extent;
  std::vector<int64_t> shape;  // largest extents
};

// Accesses of `from` become accesses of `to`, relative to the box.
class Rebase : public loop::Mutator {
 public:
  Rebase(const Buffer& from, const Buffer& to, const Box& box, const Ranges& ranges)
      : from_(from), to_(to), box_(box), ranges_(ranges) {}
  Expr Rewrite(const Expr& e) override {
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
    for (size_t d = 0; d < indices.size(); ++d) {
      Linear index = ToLinear(indices[d], ranges_);
      index.Add(box_.low[d], -1);
      relative.push_back(FromLinear(index));
    }
    return relative;
  }
  const Buffer& from_;
  const Buffer& to_;
  const Box& box_;
  const Ranges& ranges_;
};

// Whether everything that is loaded lies in its buffer, pad lanes included, by the ranges of the
// loops and by the conditions it is loaded under.
class AccessCheck {
 public:
  // `own` is the buffer that is computed: it gets the size it needs.
  AccessCheck(Ranges ranges, const Buffer& own) : ranges_(std::move(ranges)), own_(own) {}
  bool Holds(const Stmt& s) {
    switch (s->kind) {
      case loop::StmtKind::kFor: {
        if (!HoldsExpr(s->min) || !HoldsExpr(s->extent)) return false;
        ranges_.PushLoop(*s);
        const bool holds = Holds(s->body[0]);
        ranges_.Pop();
        return holds;
      }
      case loop::StmtKind::kIf: {
        if (!HoldsExpr(s->condition)) return false;
        const size_t known = facts_.size();
        Assume(s->condition);
        const bool then = Holds(s->body[0]);
        facts_.resize(known);
        return then && (s->body.size() == 1 || Holds(s->body[1]));
      }
      default: {
        bool holds = true;
        loop::ForEachExpr(*s, [&](const Expr& e) { holds = holds && HoldsExpr(e); });
        for (const Stmt& child : s->body) holds = holds && Holds(child);
        return holds;
      }
    }
  }
  // The load that may lie outside.
  const std::string& where() const { return where_; }

 private:
  struct Fact {
    Linear value;
    Interval bounds;
  };

  void Assume(const Expr& condition) {
    using loop::BinaryOp;
    if (condition->kind != loop::ExprKind::kBinary) return;
    if (condition->binary_op == BinaryOp::kAnd) {
      Assume(condition->operands[0]);
      Assume(condition->operands[1]);
      return;
    }
    if (condition->operands[0]->dtype != DataType::kInt64) return;
    Linear difference = ToLinear(condition->operands[0], ranges_);
    difference.Add(ToLinear(condition->operands[1], ranges_), -1);
    constexpr int64_t kInfinity = Interval::kInfinity;
    switch (condition->binary_op) {
      case BinaryOp::kLt:
        facts_.push_back({difference, {-kInfinity, -1}});
        break;
      case BinaryOp::kLe:
        facts_.push_back({difference, {-kInfinity, 0}});
        break;
      case BinaryOp::kGt:
        facts_.push_back({difference, {1, kInfinity}});
        break;
      case BinaryOp::kGe:
        facts_.push_back({difference, {0, kInfinity}});
        break;
      case BinaryOp::kEq:
        facts_.push_back({difference, {0, 0}});
        break;
      default:
        break;
    }
  }

  Interval BoundsOfIndex(const Expr& e) const {
    const Linear index = ToLinear(e, ranges_);
    Interval bounds = BoundsOf(index, ranges_);
    for (const Fact& fact : facts_) {
      Linear distance = index;
      distance.Add(fact.value, -1);
      if (!distance.IsConstant()) continue;
      bounds.low = std::max(bounds.low, fact.bounds.low + distance.constant);
      bounds.high = std::min(bounds.high, fact.bounds.high + distance.constant);
    }
    return bounds;
  }

  bool HoldsExpr(const Expr& e) {
    if (e->kind == loop::ExprKind::kSelect) {
      if (!HoldsExpr(e->operands[0])) return false;
      const size_t known = facts_.size();
      Assume(e->operands[0]);
      const bool then = HoldsExpr(e->operands[1]);
      facts_.resize(known);
      return then && HoldsExpr(e->operands[2]);
    }
    if (e->kind == loop::ExprKind::kLoad && e->buffer != own_) {
      for (size_t d = 0; d < e->operands.size(); ++d) {
        const int64_t padded =
            e->buffer->layout.PaddedExtent(static_cast<int>(d), e->buffer->shape[d]);
        if (!BoundsOfIndex(e->operands[d]).Within(0, padded - 1)) {
          where_ = loop::ToText(e);
          return false;
        }
      }
    }
    for (const Expr& operand : e->operands) {
      if (!HoldsExpr(operand)) return false;
    }
    return true;
  }

  Ranges ranges_;
  const Buffer& own_;
  std::vector<Fact> facts_;
  std::string where_;
};

absl::StatusOr<Box> BoxOf(const Region& region, const Buffer& buffer, const Ranges& ranges,
                          const ComputeAtOptions& options, bool* beyond) {
  Box box;
  *beyond = false;
  for (size_t d = 0; d < region.dims.size(); ++d) {
    Linear low = region.dims[d].low;
    Linear high = region.dims[d].high;
    const int64_t last = buffer->shape[d] - 1;
    if (BoundsOf(low, ranges).low < 0) {  // read below a condition: what lies outside is not read
      low = ToLinear(loop::Max(FromLinear(low), 0), ranges);
    }
    if (BoundsOf(high, ranges).high > last) *beyond = true;
    Linear extent = high;
    extent.Add(low, -1);
    extent.constant += 1;
    if (!options.align.empty() && options.align[d] > 1) {
      const int64_t align = options.align[d];
      const Expr rounded = loop::FloorDiv(FromLinear(extent) + Expr(align - 1), align);
      Linear aligned;
      aligned.Add(ToLinear(rounded, ranges), align);
      Linear end = low;
      end.Add(aligned, 1);
      if (BoundsOf(end, ranges).high > last + 1) *beyond = true;
      extent = aligned;
    }
    const Interval bounds = BoundsOf(extent, ranges);
    if (bounds.high >= Interval::kInfinity) {
      return absl::FailedPreconditionError(
          fmt::format("the region of '{}' that is read has no constant bound in dimension {}",
                      buffer->name, d));
    }
    box.low.push_back(std::move(low));
    box.extent.push_back(FromLinear(extent));
    box.shape.push_back(std::max<int64_t>(bounds.high, 1));
  }
  return box;
}

int64_t CountLoads(const loop::Nest& nest, const Buffer& buffer, size_t skip) {
  int64_t loads = 0;
  for (size_t i = 0; i < nest.launches.size(); ++i) {
    if (i == skip) continue;
    loop::Walk(
        nest.launches[i].body, [](const Stmt&) { return true; },
        [&](const Expr& e) {
          loads += e->kind == loop::ExprKind::kLoad && e->buffer == buffer ? 1 : 0;
        });
  }
  return loads;
}

Buffer MakeLocal(const Buffer& buffer, const Box& box, const ComputeAtOptions& options) {
  auto local = std::make_shared<loop::BufferNode>();
  local->name = buffer->name;
  local->dtype = buffer->dtype;
  local->shape = box.shape;
  const int rank = static_cast<int>(box.shape.size());
  local->layout = Layout::RowMajor(rank);
  if (!options.layout.empty()) {
    if (const auto parsed = Layout::Parse(options.layout, rank)) local->layout = *parsed;
  }
  local->scope = options.scope;
  return local;
}

// The stage's loops over the box only. Loops keep their order in the launch.
Stmt ProducerOver(const Box& box, const Stage& stage, const Stmt& launch_body) {
  loop::VarMap vars;
  std::vector<Expr> fresh;
  for (size_t d = 0; d < stage.loops.size(); ++d) {
    fresh.push_back(loop::Var(stage.loops[d]->var->name));
    vars[stage.loops[d]->var.get()] = FromLinear(box.low[d]) + fresh.back();
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

absl::Status ComputeAt(loop::Nest* nest, const std::string& name, const std::string& loop,
                       const ComputeAtOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  if (buffer->role != loop::Role::kWorkspace) {
    return absl::FailedPreconditionError(
        fmt::format("only workspace can be computed elsewhere, '{}' is visible outside", name));
  }
  HONE_ASSIGN_OR_RETURN(const size_t writer, WriterOf(*nest, buffer));
  HONE_ASSIGN_OR_RETURN(const Stage stage, MatchStage(*nest, writer, buffer));
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  Ranges ranges = RangesAt(site);
  ranges.PushLoop(*site.stmt);
  const Stmt& body = site.stmt->body[0];
  const Region region = RegionRead(body, buffer, ranges);
  if (site.launch <= writer || region.loads == 0 ||
      region.loads != CountLoads(*nest, buffer, writer)) {
    return absl::FailedPreconditionError(
        fmt::format("all readers of '{}' must be in the body of loop '{}'", name, loop));
  }
  bool beyond = false;
  HONE_ASSIGN_OR_RETURN(const Box box, BoxOf(region, buffer, ranges, options, &beyond));
  Stmt producer = ProducerOver(box, stage, nest->launches[writer].body);
  AccessCheck check(ranges, buffer);
  if (beyond && !check.Holds(producer)) {
    return absl::FailedPreconditionError(
        fmt::format("computing '{}' in loop '{}' would read {}, which is not known to exist", name,
                    loop, check.where()));
  }
  const Buffer local = MakeLocal(buffer, box, options);
  Rebase rebase(buffer, local, box, ranges);
  Stmt moved = loop::Alloc(local, loop::Seq({rebase.Rewrite(producer), rebase.Rewrite(body)}));
  moved = Simplify(moved, ranges);
  ReplaceAt(nest, site,
            loop::For(site.stmt->var, site.stmt->min, site.stmt->extent, std::move(moved),
                      site.stmt->loop_kind));
  nest->launches.erase(nest->launches.begin() + static_cast<ptrdiff_t>(writer));
  RemoveBuffer(nest, buffer);
  return absl::OkStatus();
}

}  // namespace hone::schedule
