// nn.bias_add: adds a vector along one axis.
#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

constexpr char kName[] = "nn.bias_add";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(kName, IntAttr(attrs, "axis", 1), data.shape.size()));
  HONE_RETURN_IF_ERROR(
      ExactOperand(kName, args, 1, "bias", {{data.shape[axis]}, data.dtype}).status());
  return TensorOf(std::move(data.shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const auto axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", 1), args[0]->shape.size());
  return {builder.Compute("bias_add", result.tensor.dtype, result.tensor.shape,
                          [&](const std::vector<loop::Expr>& axes) {
                            return loop::Load(args[0], axes) + loop::Load(args[1], {axes[axis]});
                          })};
}

}  // namespace

void RegisterBiasAdd(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.min_args = op.max_args = 2;
  op.kind = FuseKind::kBroadcast;
  op.attrs = {{"axis", AttrKind::kInt}};
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
