// cast: another element type; floats become integers by truncation, numbers bool by `!= 0`.
#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand("cast", args, 0, "data"));
  return TensorOf(std::move(data.shape), DataTypeAttr(attrs, "dtype", data.dtype));
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const DataType dtype = result.tensor.dtype;
  return {
      builder.Compute("cast", dtype, result.tensor.shape, [&](const std::vector<loop::Expr>& axes) {
        const loop::Expr x = loop::Load(args[0], axes);
        if (dtype == DataType::kBool && x->dtype != DataType::kBool) {
          return loop::Binary(loop::BinaryOp::kNe, x, loop::Const(0, x->dtype));
        }
        return CastTo(dtype, x);
      })};
}

}  // namespace

void RegisterCast(std::vector<Op>& table) {
  Op op;
  op.name = "cast";
  op.kind = FuseKind::kElemwise;
  op.attrs = {{"dtype", AttrKind::kDataType, true}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto&, const auto&, const auto&) { return 0.0; };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
