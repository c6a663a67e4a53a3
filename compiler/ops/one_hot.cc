// one_hot: values = [off, on]; along the new axis, `on` at the index and `off` elsewhere. A
// negative index counts from the end; one beyond [-depth, depth) gives `off` alone.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/injective.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "one_hot";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType indices, TensorOperand(kName, args, 0, "indices"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType values, TensorOperand(kName, args, 1, "values", 1));
  if (!IsInteger(indices.dtype)) {
    return OperandError(kName, "indices", "integers", indices.ToString());
  }
  if (values.shape[0] != 2) return OperandError(kName, "values", "two", values.ToString());
  const int64_t depth = IntAttr(attrs, "depth", 0);
  if (depth < 0) return AttrError(kName, "depth", "at least 0", fmt::format("{}", depth));
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(kName, IntAttr(attrs, "axis", -1), indices.shape.size() + 1));
  Shape shape = indices.shape;
  shape.insert(shape.begin() + axis, depth);
  return TensorOf(std::move(shape), values.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const Shape& shape = result.tensor.shape;
  const int64_t axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", -1), shape.size());
  return {builder.Compute(kName, result.tensor.dtype, shape, [&](const std::vector<Expr>& axes) {
    std::vector<Expr> at = axes;
    at.erase(at.begin() + axis);
    const Expr raw = CastTo(DataType::kInt64, loop::Load(args[0], at));
    // Unsigned indices do not count from the end; those beyond int64 are no position at all.
    const bool has_sign = !IsUnsigned(args[0]->dtype);
    const Expr index =
        has_sign ? loop::Select(Lt(raw, loop::IntConst(0)), raw + loop::IntConst(shape[axis]), raw)
                 : raw;
    return loop::Select(Eq(index, axes[axis]), loop::Load(args[1], {loop::IntConst(1)}),
                        loop::Load(args[1], {loop::IntConst(0)}));
  })};
}

}  // namespace

void RegisterOneHot(std::vector<Op>& table) {
  Op op = InjectiveOp(kName, 2, {{"depth", AttrKind::kInt, true}, {"axis", AttrKind::kInt}});
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
