// concatenate: a tuple of tensors along one axis.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/injective.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "concatenate";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  if (!args[0].is_tuple || args[0].fields.empty() || !args[0].fields[0].IsTensor()) {
    return OperandError(kName, "data", "a tuple of at least one tensor", args[0].ToString());
  }
  ir::TensorType first = args[0].fields[0].tensor;
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(kName, IntAttr(attrs, "axis", 0), first.shape.size()));
  Shape shape = first.shape;
  for (size_t i = 1; i < args[0].fields.size(); ++i) {
    const ir::Type& field = args[0].fields[i];
    ir::TensorType expected = first;
    if (field.IsTensor() && field.tensor.shape.size() == first.shape.size()) {
      expected.shape[axis] = field.tensor.shape[axis];
      shape[axis] += field.tensor.shape[axis];
    }
    if (!field.IsTensor() || !(field.tensor == expected)) {
      return OperandError(kName, fmt::format("data.{}", i),
                          fmt::format("{} but for axis {}", first.ToString(), axis),
                          field.ToString());
    }
  }
  return TensorOf(std::move(shape), first.dtype);
}

// A chain of selects over the parts: which one holds the element is decided by its position.
std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& parts,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const auto axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", 0), result.tensor.shape.size());
  const auto value = [&](const std::vector<Expr>& axes) {
    int64_t end = result.tensor.shape[axis];
    Expr e;
    for (size_t i = parts.size(); i > 0; --i) {
      const loop::Buffer& part = parts[i - 1];
      const int64_t begin = end - part->shape[axis];
      std::vector<Expr> index = axes;
      index[axis] = index[axis] - loop::IntConst(begin);
      const Expr load = loop::Load(part, index);
      e = e ? loop::Select(Lt(axes[axis], loop::IntConst(end)), load, e) : load;
      end = begin;
    }
    return e;
  };
  return {builder.Compute(kName, result.tensor.dtype, result.tensor.shape, value)};
}

}  // namespace

void RegisterConcatenate(std::vector<Op>& table) {
  Op op = InjectiveOp(kName, 1, {{"axis", AttrKind::kInt}});
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
