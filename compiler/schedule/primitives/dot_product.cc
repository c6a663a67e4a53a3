#include "compiler/schedule/primitives/dot_product.h"

#include <algorithm>
#include <optional>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/linear.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

namespace {

absl::Status WrongForm(const std::string& loop) {
  return absl::FailedPreconditionError(fmt::format(
      "the body of loop '{}' must add a product of two bytes, widened or of an int32's, to an "
      "int32, or of two widened bfloat16 or float16 to a float32",
      loop));
}

bool Neighbours(const Expr& load, const Expr& var, const Bounds& bounds) {
  const Expr offset = PhysicalOffset(*load->buffer, load->operands, bounds);
  const loop::Linear linear = LinearForm(offset, bounds);
  for (const loop::Linear::Term& term : linear.terms()) {
    const bool is_var = term.atom.SameAs(var);
    if (is_var ? term.coefficient != 1 : loop::UsesVar(term.atom, var)) return false;
  }
  return linear.CoefficientOf(var) == 1;
}

// The axis that `var` indexes; nullopt where it is not the index itself, or in several.
std::optional<size_t> AxisOf(const Expr& load, const Expr& var) {
  std::optional<size_t> axis;
  for (size_t d = 0; d < load->operands.size(); ++d) {
    if (!loop::UsesVar(load->operands[d], var)) continue;
    if (axis || !load->operands[d].SameAs(var)) return std::nullopt;
    axis = d;
  }
  return axis;
}

// Whether the axis has pad lanes (zeros) from `extent` to `padded`.
bool HasPadLanes(const loop::BufferNode& buffer, size_t axis, int64_t extent, int64_t padded) {
  return buffer.shape[axis] == extent &&
         buffer.layout.PaddedExtent(static_cast<int>(axis), extent) >= padded;
}

// Whether a stage fills the buffer to `padded` along the axis, with zeros from `extent` on, as
// PadStage lets it.
bool IsPaddedStage(const loop::Nest& nest, const loop::Buffer& buffer, size_t axis, int64_t extent,
                   int64_t padded) {
  if (buffer->role != loop::Role::kWorkspace || buffer->shape[axis] < padded) return false;
  const absl::StatusOr<size_t> writer = WriterOf(nest, buffer);
  if (!writer.ok()) return false;
  const absl::StatusOr<StageNest> stage = MatchStage(nest, *writer, buffer);
  if (!stage.ok() || stage->body->kind != StmtKind::kStore) return false;
  const Expr& value = stage->body->value;
  if (value->kind != loop::ExprKind::kSelect || !loop::IsZero(value->operands[2])) return false;
  return std::ranges::any_of(ConjunctsOf(value->operands[0]), [&](const Expr& condition) {
    int64_t limit = 0;
    return condition->kind == loop::ExprKind::kBinary &&
           condition->binary_op == loop::BinaryOp::kLt &&
           condition->operands[0].SameAs(stage->loops[axis]->var) &&
           loop::IsConstInt(condition->operands[1], &limit) && limit <= extent;
  });
}

}  // namespace

absl::Status DotProduct(loop::Nest* nest, const Loop& loop) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  const loop::StmtNode& s = *site.stmt;
  std::vector<loop::DotFactor> factors = loop::DotFactorsOf(s.body[0], s.var);
  if (factors.empty()) {
    for (const Expr& load : loop::SummedFloat16Factors(s.body[0])) factors.push_back({load, {}, 0});
  }
  if (factors.empty()) return WrongForm(loop.name());
  const int64_t steps = s.body[0]->buffer->dtype == DataType::kInt32 ? 4 : 2;
  int64_t extent = 0;
  if (!loop::IsConstInt(s.extent, &extent) || extent != steps) {
    return absl::FailedPreconditionError(fmt::format("a dot product has {} steps, loop '{}' has {}",
                                                     steps, loop.name(), loop::ToText(s.extent)));
  }
  Bounds bounds = BoundsAt(site);
  bounds.PushLoop(s);
  for (const loop::DotFactor& factor : factors) {
    if (factor.shift || Neighbours(factor.load, s.var, bounds)) continue;
    return absl::FailedPreconditionError(
        fmt::format("the steps of loop '{}' are not neighbours in '{}'", loop.name(),
                    factor.load->buffer->name));
  }
  ReplaceAt(nest, site, loop::For(s.var, s.min, s.extent, s.body[0], loop::LoopKind::kDot));
  return absl::OkStatus();
}

absl::Status SumPadLanes(loop::Nest* nest, const Loop& loop, int64_t factor) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, loop));
  const loop::StmtNode& s = *site.stmt;
  int64_t extent = 0;
  if (!loop::IsConstInt(s.extent, &extent) || !loop::IsConstInt(s.min)) {
    return absl::FailedPreconditionError(
        fmt::format("loop '{}' needs a constant number of steps", loop.name()));
  }
  if (factor < 1) {
    return absl::InvalidArgumentError(fmt::format("expected a factor from 1, found {}", factor));
  }
  const int64_t padded = (extent + factor - 1) / factor * factor;
  if (padded == extent) return absl::OkStatus();
  Stmt body = s.body[0];
  while (body->kind == StmtKind::kFor && !loop::UsesVar(body->extent, s.var)) body = body->body[0];
  std::vector<Expr> loads = loop::SummedDotFactors(body, s.var);
  if (loads.empty()) loads = loop::SummedFloat16Factors(body);
  if (loads.empty()) return WrongForm(loop.name());
  for (const Expr& load : loads) {
    // The lanes of buffers of a thread hold whatever was computed into them.
    const bool is_global = load->buffer->scope == loop::Scope::kGlobal;
    const std::optional<size_t> axis = AxisOf(load, s.var);
    if (is_global && axis &&
        (HasPadLanes(*load->buffer, *axis, extent, padded) ||
         IsPaddedStage(*nest, load->buffer, *axis, extent, padded))) {
      continue;
    }
    return absl::FailedPreconditionError(fmt::format("'{}' has no pad lanes from {} to {} for '{}'",
                                                     load->buffer->name, extent, padded,
                                                     loop.name()));
  }
  ReplaceAt(nest, site, loop::For(s.var, s.min, padded, s.body[0], s.loop_kind));
  return absl::OkStatus();
}

}  // namespace hone::schedule
