// reverse_sequence: of each batch entry, the first seq_lengths[batch] steps of seq_axis in reverse;
// the rest stays. Lengths beyond the data are clamped.
#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/injective.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "reverse_sequence";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType lengths,
                        TensorOperand(kName, args, 1, "seq_lengths", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t seq,
                        NormalizeAxis(kName, IntAttr(attrs, "seq_axis", 1), data.shape.size()));
  HONE_ASSIGN_OR_RETURN(const int64_t batch,
                        NormalizeAxis(kName, IntAttr(attrs, "batch_axis", 0), data.shape.size()));
  if (seq == batch) {
    return AttrError(kName, "seq_axis", "another axis than batch_axis", std::to_string(seq));
  }
  if (!IsInteger(lengths.dtype) || lengths.shape[0] != data.shape[batch]) {
    return OperandError(kName, "seq_lengths", "one integer a batch entry of " + data.ToString(),
                        lengths.ToString());
  }
  return TensorOf(data.shape, data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const Shape& shape = result.tensor.shape;
  const int64_t seq = *NormalizeAxis(kName, IntAttr(attrs, "seq_axis", 1), shape.size());
  const int64_t batch = *NormalizeAxis(kName, IntAttr(attrs, "batch_axis", 0), shape.size());
  return {builder.Compute(kName, result.tensor.dtype, shape, [&](const std::vector<Expr>& axes) {
    const Expr length = Min(CastTo(DataType::kInt64, loop::Load(args[1], {axes[batch]})),
                            loop::IntConst(shape[seq]));
    std::vector<Expr> index = axes;
    index[seq] =
        loop::Select(Lt(axes[seq], length), length - loop::IntConst(1) - axes[seq], axes[seq]);
    return loop::Load(args[0], index);
  })};
}

}  // namespace

void RegisterReverseSequence(std::vector<Op>& table) {
  Op op = InjectiveOp(kName, 2, {{"seq_axis", AttrKind::kInt}, {"batch_axis", AttrKind::kInt}});
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
