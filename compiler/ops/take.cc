// take: elements of the data along one axis at the positions in `indices`; negative ones count from
// the end, others are clamped into the data, so no index reads beyond it.
#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/injective.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "take";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType indices, TensorOperand(kName, args, 1, "indices"));
  if (!IsInteger(indices.dtype)) {
    return OperandError(kName, "indices", "integers", indices.ToString());
  }
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(kName, IntAttr(attrs, "axis", 0), data.shape.size()));
  if (data.shape[axis] == 0) {
    return OperandError(kName, "data", "an axis that is not empty", data.ToString());
  }
  Shape shape(data.shape.begin(), data.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + axis + 1, data.shape.end());
  return TensorOf(std::move(shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const loop::Buffer& indices = args[1];
  const auto axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", 0), data->shape.size());
  const size_t rank = indices->shape.size();
  const int64_t extent = data->shape[axis];
  return {builder.Compute(
      kName, result.tensor.dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        const auto middle = axes.begin() + axis;
        std::vector<Expr> index(axes.begin(), middle);
        index.push_back(
            IndexWithin(loop::Load(indices, std::vector<Expr>(middle, middle + rank)), extent));
        index.insert(index.end(), middle + rank, axes.end());
        return loop::Load(data, index);
      })};
}

}  // namespace

void RegisterTake(std::vector<Op>& table) {
  Op op = InjectiveOp(kName, 2, {{"axis", AttrKind::kInt}});
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
