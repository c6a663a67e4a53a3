// trilu: the upper or lower triangle of the matrices in the two innermost axes, zeros elsewhere.
// The diagonal k is above the main one where positive.
#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/injective.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "trilu";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs&) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  if (data.shape.size() < 2) return OperandError(kName, "data", "matrices", data.ToString());
  return TensorOf(data.shape, data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  constexpr int64_t kBeyond = int64_t{1} << 48;  // any extent
  const Expr k = loop::IntConst(std::clamp(IntAttr(attrs, "k", 0), -kBeyond, kBeyond));
  const bool upper = BoolAttr(attrs, "upper", true);
  return {builder.Compute(
      kName, result.tensor.dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        const Expr row = axes[axes.size() - 2];
        const Expr column = axes[axes.size() - 1];
        const Expr kept = upper ? Ge(column, row + k) : Le(column, row + k);
        return loop::Select(kept, loop::Load(args[0], axes), loop::Const(0, args[0]->dtype));
      })};
}

}  // namespace

void RegisterTrilu(std::vector<Op>& table) {
  Op op = InjectiveOp(kName, 1, {{"upper", AttrKind::kBool}, {"k", AttrKind::kInt}});
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
