#include "compiler/schedule/primitives/reduce_by_lanes.h"

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

Buffer Partials(const std::string& name, DataType dtype, int64_t extent) {
  auto buffer = std::make_shared<loop::BufferNode>();
  buffer->name = name;
  buffer->dtype = dtype;
  buffer->shape = {extent};
  buffer->layout = Layout::RowMajor(1);
  buffer->scope = loop::Scope::kRegister;
  return buffer;
}

class LaneReduction {
 public:
  LaneReduction(const loop::Nest& nest, const Stmt& loop, int64_t lanes, int64_t vectors,
                bool drops_nan)
      : nest_(nest),
        loop_(loop),
        store_(*loop->body[0]),
        name_(loop->var->name),
        lanes_(lanes),
        vectors_(vectors),
        drops_nan_(drops_nan) {}

  // The partial results of the loop, and what combines them; `wrap` puts the loops around the
  // reduction's innermost one back.
  Stmt Make(int64_t extent, double neutral, const std::function<Stmt(Stmt)>& wrap) {
    const Buffer partials =
        Partials(store_.buffer->name + ".part", store_.buffer->dtype, lanes_ * vectors_);
    const Expr zero = loop::Const(neutral, store_.buffer->dtype);
    std::vector<Stmt> steps = {Lanes("_zero", vectors_, lanes_, [&](const Expr& j) {
      return loop::Store(partials, {j}, zero);
    })};
    steps.push_back(wrap(Sums(partials, extent)));
    Buffer last = partials;
    std::vector<Buffer> halves;
    for (int64_t width = lanes_ * vectors_; width > 1;) {
      // Whole vectors first, also of an odd number of them.
      const int64_t all = width / lanes_;
      const int64_t next = width > lanes_ ? (all + 1) / 2 * lanes_ : width / 2;
      const Buffer half =
          Partials(fmt::format("{}.half{}", store_.buffer->name, next), store_.buffer->dtype, next);
      steps.push_back(Halve(last, half, width, next));
      halves.push_back(half);
      last = half;
      width = next;
    }
    steps.push_back(loop::Store(store_.buffer, store_.indices,
                                Combine(Accumulator(), loop::Load(last, {Expr(0)}))));
    Stmt all = loop::Seq(std::move(steps));
    for (const Buffer& half : halves) all = loop::Alloc(half, std::move(all));
    return loop::Alloc(partials, std::move(all));
  }

 private:
  Expr Combine(const Expr& a, const Expr& b) const {
    const BinaryOp op = store_.value->binary_op;
    if (drops_nan_ && op == BinaryOp::kMax) return loop::Select(loop::Lt(a, b), b, a);
    if (drops_nan_ && op == BinaryOp::kMin) return loop::Select(loop::Lt(b, a), b, a);
    return loop::Binary(op, a, b);
  }
  const Expr& Accumulator() const { return store_.value->operands[0]; }
  std::string Fresh(const std::string& suffix) const {
    return UniqueLoopName(nest_, name_ + suffix);
  }

  // Loops over vectors and their lanes around what `body` does with an element's number.
  Stmt Lanes(const std::string& suffix, int64_t vectors, int64_t lanes,
             const std::function<Stmt(const Expr&)>& body) const {
    const Expr u = loop::Var(Fresh(".u" + suffix));
    const Expr lane = loop::Var(Fresh(".vec" + suffix));
    const Expr at = vectors > 1 ? u * Expr(lanes_) + lane : Expr(lane);
    Stmt inner = loop::For(lane, 0, lanes, body(at), LoopKind::kVectorize);
    if (vectors == 1) return inner;
    return loop::For(u, 0, vectors, std::move(inner), LoopKind::kUnroll);
  }

  Stmt Step(const Buffer& partials, const std::string& suffix, const Expr& from, int64_t vectors,
            int64_t lanes) const {
    return Lanes(suffix, vectors, lanes, [&](const Expr& j) {
      const Expr value =
          loop::Substitute(store_.value->operands[1], loop::VarMap{{loop_->var.get(), from + j}});
      return loop::Store(partials, {j}, Combine(loop::Load(partials, {j}), value));
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

  // Of `width` elements the first `next`, with the rest added to them.
  Stmt Halve(const Buffer& from, const Buffer& to, int64_t width, int64_t next) const {
    const std::string suffix = fmt::format("_half{}", next);
    const auto pairs = [&](const std::string& part, int64_t first, int64_t count, bool paired) {
      const int64_t lanes = std::min(lanes_, count);
      return Lanes(suffix + part, count / lanes, lanes, [&](const Expr& j) {
        const Expr at = j + Expr(first);
        Expr value = loop::Load(from, {at});
        if (paired) value = Combine(value, loop::Load(from, {at + Expr(next)}));
        return loop::Store(to, {at}, value);
      });
    };
    const int64_t both = width - next;
    if (both == next) return pairs("", 0, next, true);
    return loop::Seq({pairs("", 0, both, true), pairs("_odd", both, next - both, false)});
  }

  const loop::Nest& nest_;
  const Stmt& loop_;
  const loop::StmtNode& store_;
  std::string name_;
  int64_t lanes_;
  int64_t vectors_;
  bool drops_nan_;
};

absl::Status Check(const Stmt& loop, int64_t lanes, int64_t vectors, int64_t* extent) {
  const auto refuse = [&](const char* why) {
    return absl::FailedPreconditionError(
        fmt::format("loop '{}' cannot be reduced by lanes: {}", loop->var->name, why));
  };
  if (lanes < 1 || vectors < 1 || !std::has_single_bit(static_cast<uint64_t>(lanes))) {
    return absl::InvalidArgumentError(fmt::format(
        "lanes are a power of two and vectors at least 1, found {} and {}", lanes, vectors));
  }
  int64_t min = 0;
  if (!loop::IsConstInt(loop->extent, extent) || !loop::IsConstInt(loop->min, &min) || min != 0) {
    return refuse("its extent is not constant");
  }
  const Stmt& store = loop->body[0];
  if (store->kind != loop::StmtKind::kStore || !loop::Accumulates(*store)) {
    return refuse("its body is not c[..] = c[..] op value");
  }
  if (!loop::NeutralOf(store->value->binary_op, store->buffer->dtype)) {
    return refuse("its operator has no neutral element");
  }
  for (const Expr& index : store->indices) {
    if (loop::UsesVar(index, loop->var)) return refuse("it writes an element an iteration");
  }
  bool again = false;
  loop::Walk(store->value->operands[1], [&](const Expr& e) {
    again = again || (e->kind == loop::ExprKind::kLoad && e->buffer == store->buffer);
  });
  if (again) return refuse("its value reads what it writes");
  return absl::OkStatus();
}

// How many of the loops around `site`, from the inside, belong to the same sum: they stand around
// nothing else, and what is written does not depend on them.
size_t OuterLoops(const Site& site, const loop::StmtNode& store) {
  size_t count = 0;
  for (auto it = site.path.rbegin(); it != site.path.rend(); ++it, ++count) {
    const Stmt& around = it->first;
    if (around->kind != loop::StmtKind::kFor || around->loop_kind != LoopKind::kSerial) break;
    bool own = false;
    for (const Expr& index : store.indices) own = own || loop::UsesVar(index, around->var);
    if (own) break;
  }
  return count;
}

}  // namespace

absl::Status ReduceByLanes(loop::Nest* nest, const std::string& name, int64_t lanes,
                           int64_t vectors, bool drops_nan) {
  HONE_ASSIGN_OR_RETURN(Site site, FindLoop(*nest, name));
  const Stmt loop = site.stmt;
  int64_t extent = 0;
  HONE_RETURN_IF_ERROR(Check(loop, lanes, vectors, &extent));
  const loop::StmtNode& store = *loop->body[0];
  std::vector<Stmt> around;
  for (size_t count = OuterLoops(site, store); count > 0; --count) {
    around.push_back(site.path.back().first);
    site.stmt = site.path.back().first;
    site.path.pop_back();
  }
  LaneReduction reduction(*nest, loop, lanes, vectors, drops_nan);
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
