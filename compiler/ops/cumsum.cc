// cumsum: running sums along one axis; `exclusive` ones leave their own element out, `reverse` ones
// start at the end. One stage, sequential along the axis.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "cumsum";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  if (data.dtype == DataType::kBool) return OperandError(kName, "data", "numbers", data.ToString());
  HONE_RETURN_IF_ERROR(NormalizeAxis(kName, IntAttr(attrs, "axis", 0), data.shape.size()).status());
  return TensorOf(std::move(data.shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const Shape& shape = data->shape;
  const auto axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", 0), shape.size());
  const bool exclusive = BoolAttr(attrs, "exclusive", false);
  const bool reverse = BoolAttr(attrs, "reverse", false);
  const DataType dtype = IsFloat(data->dtype) ? AccumulatorType(data->dtype) : data->dtype;
  const loop::Buffer sum = loop::MakeBuffer("cumsum", dtype, shape);

  std::vector<Expr> loops;
  for (size_t i = 0; i < shape.size(); ++i) {
    loops.push_back(loop::Var(fmt::format("cumsum.i{}", i)));
  }
  // The element that is `back` steps before the one at hand.
  const auto at = [&](int64_t back) {
    std::vector<Expr> index = loops;
    const Expr step = loops[axis] - loop::IntConst(back);
    index[axis] = reverse ? loop::IntConst(shape[axis] - 1) - step : step;
    return index;
  };
  const Expr first = loop::Eq(loops[axis], loop::IntConst(0));
  const Expr zero = loop::Const(0, dtype);
  const Expr before = loop::Load(sum, at(1));
  const auto x = [&](int64_t back) { return CastTo(dtype, loop::Load(data, at(back))); };
  const Expr value = exclusive ? loop::Select(first, zero, before + x(1))
                               : x(0) + loop::Select(first, zero, before);
  loop::Stmt body = loop::Store(sum, at(0), value);
  for (size_t i = shape.size(); i-- > 0;) body = loop::For(loops[i], 0, shape[i], std::move(body));
  builder.AddStage(sum, std::move(body));
  return {CastStage(builder, "cumsum_cast", sum, result.tensor.dtype)};
}

}  // namespace

void RegisterCumsum(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.kind = FuseKind::kOpaque;
  op.attrs = {
      {"axis", AttrKind::kInt}, {"exclusive", AttrKind::kBool}, {"reverse", AttrKind::kBool}};
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
