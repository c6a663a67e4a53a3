// argmax, argmin: where along one axis the largest or smallest element is, as int64: the first of
// several, or with select_last_index the last; a NaN is beyond everything. Stages: the best value,
// then its index.
#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using Combiner = loop::NestBuilder::Combiner;

absl::StatusOr<ir::Type> Infer(const std::string& op, const std::vector<ir::Type>& args,
                               const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(op, IntAttr(attrs, "axis", 0), data.shape.size()));
  if (data.shape[axis] == 0) {
    return OperandError(op, "data", "an axis that is not empty", data.ToString());
  }
  Shape shape = data.shape;
  if (BoolAttr(attrs, "keepdims", false)) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + axis);
  }
  return TensorOf(std::move(shape), DataType::kInt64);
}

std::vector<loop::Buffer> Define(const std::string& op, loop::NestBuilder& builder,
                                 const loop::Buffer& data, const ir::Attrs& attrs,
                                 const ir::Type& result) {
  const auto axis = *NormalizeAxis(op, IntAttr(attrs, "axis", 0), data->shape.size());
  const bool keep = BoolAttr(attrs, "keepdims", false);
  const bool last = BoolAttr(attrs, "select_last_index", false);
  const Combiner combiner = op == "argmax" ? Combiner::kMax : Combiner::kMin;
  const std::vector<int64_t> extents = {data->shape[axis]};
  const auto element = [&](std::vector<Expr> axes, const Expr& at) {
    if (keep) axes.erase(axes.begin() + axis);
    axes.insert(axes.begin() + axis, at);
    return loop::Load(data, axes);
  };

  const Expr neutral = combiner == Combiner::kMax ? LowestOf(data->dtype) : HighestOf(data->dtype);
  const loop::Buffer best =
      builder.Reduce(op + "_best", data->dtype, result.tensor.shape, extents, combiner, neutral,
                     [&](const auto& axes, const auto& r) { return element(axes, r[0]); });
  const Expr other = loop::IntConst(last ? 0 : extents[0] - 1);
  return {builder.Reduce(op, DataType::kInt64, result.tensor.shape, extents,
                         last ? Combiner::kMax : Combiner::kMin, other,
                         [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
                           const Expr x = element(axes, r[0]);
                           Expr here = loop::Eq(x, loop::Load(best, axes));
                           if (IsFloat(data->dtype)) {
                             here = loop::Or(here, loop::Unary(loop::UnaryOp::kIsNan, x));
                           }
                           return loop::Select(here, r[0], other);
                         })};
}

}  // namespace

void RegisterArgReduce(std::vector<Op>& table) {
  for (const std::string name : {"argmax", "argmin"}) {
    Op op;
    op.name = name;
    op.kind = FuseKind::kOpaque;
    op.attrs = {{"axis", AttrKind::kInt},
                {"keepdims", AttrKind::kBool},
                {"select_last_index", AttrKind::kBool}};
    op.infer_type = [=](const auto& args, const auto& attrs) { return Infer(name, args, attrs); };
    op.define = [=](auto& builder, const auto& args, const auto& attrs, const auto& result) {
      return Define(name, builder, args[0], attrs, result);
    };
    op.flops = [](const auto& args, const auto&, const auto&) {
      return 2.0 * static_cast<double>(args[0].tensor.ElementCount());
    };
    table.push_back(std::move(op));
  }
}

}  // namespace hone::ops
