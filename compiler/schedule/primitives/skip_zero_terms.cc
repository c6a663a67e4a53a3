#include "compiler/schedule/primitives/skip_zero_terms.h"

#include <algorithm>
#include <optional>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::BinaryOp;
using loop::Bounds;
using loop::Expr;
using loop::ExprKind;
using loop::Linear;
using loop::Stmt;
using loop::StmtKind;

namespace {

// c + select(p, x, 0) * w, the factors in either order.
std::optional<Stmt> Skip(const Stmt& store) {
  const Expr& sum = store->value;
  if (sum->kind != ExprKind::kBinary || sum->binary_op != BinaryOp::kAdd) return std::nullopt;
  const Expr& accumulator = sum->operands[0];
  const Expr& product = sum->operands[1];
  if (!loop::Accumulates(*store) || product->kind != ExprKind::kBinary ||
      product->binary_op != BinaryOp::kMul) {
    return std::nullopt;
  }
  for (size_t side : {size_t{0}, size_t{1}}) {
    const Expr& factor = product->operands[side];
    if (factor->kind != ExprKind::kSelect || !loop::IsZero(factor->operands[2])) continue;
    Expr factors[2] = {product->operands[0], product->operands[1]};
    factors[side] = factor->operands[1];
    return loop::If(factor->operands[0], loop::Store(store->buffer, store->indices,
                                                     accumulator + factors[0] * factors[1]));
  }
  return std::nullopt;
}

Stmt Rebuild(const Stmt& s, const Stmt& innermost) {
  if (s->kind != StmtKind::kFor) return innermost;
  return loop::For(s->var, s->min, s->extent, Rebuild(s->body[0], innermost), s->loop_kind);
}

}  // namespace

absl::Status SkipZeroTerms(loop::Nest* nest, const Loop& loop) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  const Stmt store = loop::InsideLoops(site.stmt);
  if (store->kind == StmtKind::kStore) {
    if (const std::optional<Stmt> skipped = Skip(store)) {
      ReplaceAt(nest, site, Rebuild(site.stmt, *skipped));
      return absl::OkStatus();
    }
  }
  return absl::FailedPreconditionError(
      fmt::format("loop '{}' must nest around one sum of products with a factor select(.., .., 0)",
                  loop.name()));
}

namespace {

class Clipper {
 public:
  Clipper(const Stmt& loop, Bounds outside)
      : loop_(loop),
        outside_(std::move(outside)),
        low_(loop->min),
        high_(loop->min + loop->extent) {}

  // The body without the conditions that became bounds.
  Stmt Strip(const Stmt& s) {
    if (s->kind == StmtKind::kFor) {
      Stmt body = Strip(s->body[0]);
      if (body == s->body[0]) return s;
      return loop::For(s->var, s->min, s->extent, std::move(body), s->loop_kind);
    }
    if (s->kind != StmtKind::kIf || s->body.size() != 1) return s;
    std::vector<Expr> kept = ConjunctsOf(s->condition);
    changed_ = std::erase_if(kept, [&](const Expr& part) { return Bound(part); }) > 0 || changed_;
    Stmt body = Strip(s->body[0]);
    for (const Expr& part : kept) body = loop::If(part, std::move(body));
    return body;
  }
  bool changed() const { return changed_; }
  Expr low() const { return Simplify(low_, outside_); }
  Expr extent() const { return Simplify(loop::Max(high_ - low_, 0), outside_); }

 private:
  // a * k + rest >= 0 with a > 0: k >= ceil(-rest / a); < 0: k < ceil(-rest / a).
  bool Bound(const Expr& condition) {
    if (condition->kind != ExprKind::kBinary || condition->operands[0]->dtype != DataType::kInt64) {
      return false;
    }
    const BinaryOp op = condition->binary_op;
    if (op != BinaryOp::kGe && op != BinaryOp::kLt) return false;
    Linear rest = LinearForm(condition->operands[0], outside_);
    rest.Add(LinearForm(condition->operands[1], outside_), -1);
    const int64_t coefficient = rest.CoefficientOf(loop_->var);
    rest.AddTerm(loop_->var, -coefficient);
    if (coefficient <= 0 || !std::all_of(rest.terms().begin(), rest.terms().end(),
                                         [&](const Linear::Term& t) { return Known(t.atom); })) {
      return false;
    }
    Linear distance(coefficient - 1);
    distance.Add(rest, -1);
    const Expr limit = loop::FloorDiv(distance.ToExpr(), coefficient);
    if (op == BinaryOp::kGe) {
      low_ = loop::Max(low_, limit);
    } else {
      high_ = loop::Min(high_, limit);
    }
    return true;
  }

  // A variable of a loop around.
  bool Known(const Expr& atom) const {
    return atom->kind == ExprKind::kVar && outside_.Find(atom.get()) != nullptr;
  }

  const Stmt& loop_;
  Bounds outside_;
  Expr low_;
  Expr high_;
  bool changed_ = false;
};

}  // namespace

absl::Status ClipLoop(loop::Nest* nest, const Loop& clipped) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, clipped));
  Clipper clipper(site.stmt, BoundsAt(site));
  Stmt body = clipper.Strip(site.stmt->body[0]);
  if (!clipper.changed()) return absl::OkStatus();
  if (site.stmt->loop_kind != loop::LoopKind::kSerial) {
    return absl::FailedPreconditionError(
        fmt::format("only serial loops can be clipped, '{}' is not", clipped.name()));
  }
  ReplaceAt(nest, site,
            loop::For(site.stmt->var, clipper.low(), clipper.extent(), std::move(body)));
  return absl::OkStatus();
}

}  // namespace hone::schedule
