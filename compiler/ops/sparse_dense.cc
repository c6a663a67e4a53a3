// nn.sparse_dense: a sparse matrix by a dense one. The sparse one (m, k) is in CSR: the columns and
// values of row i are indices[j] and data[j] for j from indptr[i] to indptr[i + 1].
//   result[i, n] = sum over j of data[j] * dense[indices[j], n]
// Offsets and columns are clamped into what there is, a row that ends before it begins is empty: so
// no operands, whatever they hold, read beyond the others. Columns of a row may stand in any order,
// and more than once.
#include <fmt/format.h>

#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "nn.sparse_dense";

absl::StatusOr<ir::TensorType> Integers(const std::vector<ir::Type>& args, size_t index,
                                        const char* operand) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType type, TensorOperand(kName, args, index, operand, 1));
  if (type.dtype == DataType::kInt32 || type.dtype == DataType::kInt64) return type;
  return OperandError(kName, operand, "int32 or int64", type.ToString());
}

absl::StatusOr<ir::Type> InferSparseDense(const std::vector<ir::Type>& args, const ir::Attrs&) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data", 1));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType indices, Integers(args, 1, "indices"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType indptr, Integers(args, 2, "indptr"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType dense, TensorOperand(kName, args, 3, "dense", 2));
  if (indices.shape != data.shape) {
    return OperandError(kName, "indices", fmt::format("one for each of {}", data.ToString()),
                        indices.ToString());
  }
  if (indptr.shape[0] < 1) {
    return OperandError(kName, "indptr", "one more than there are rows", indptr.ToString());
  }
  if (dense.dtype != data.dtype || data.dtype == DataType::kBool) {
    return OperandError(kName, "dense", fmt::format("numbers of the type of {}", data.ToString()),
                        dense.ToString());
  }
  if (dense.shape[0] == 0 && data.shape[0] > 0) {
    return OperandError(kName, "dense", fmt::format("a row for the columns of {}", data.ToString()),
                        dense.ToString());
  }
  return TensorOf({indptr.shape[0] - 1, dense.shape[1]},
                  IsFloat(data.dtype) ? data.dtype : AccumulatorType(data.dtype));
}

// Positions clamped to 0 .. last, in 32 bits where that is enough: half the bytes to read.
loop::Buffer Clamped(loop::NestBuilder& builder, const std::string& stage,
                     const loop::Buffer& positions, int64_t last) {
  const DataType dtype = last <= INT32_MAX ? DataType::kInt32 : DataType::kInt64;
  return builder.Compute(stage, dtype, positions->shape, [&](const std::vector<Expr>& axes) {
    const Expr at = CastTo(DataType::kInt64, loop::Load(positions, axes));
    return CastTo(dtype, Min(Max(at, loop::IntConst(0)), loop::IntConst(last)));
  });
}

std::vector<loop::Buffer> DefineSparseDense(loop::NestBuilder& builder,
                                            const std::vector<loop::Buffer>& args, const ir::Attrs&,
                                            const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const loop::Buffer& dense = args[3];
  const int64_t nonzeros = data->shape[0];
  const int64_t last_column = std::max<int64_t>(dense->shape[0] - 1, 0);
  builder.SetDomain(args[1], 0, static_cast<double>(last_column));
  builder.SetDomain(args[2], 0, static_cast<double>(nonzeros), /*ascending=*/true);
  const loop::Buffer columns = Clamped(builder, "sparse_columns", args[1], last_column);
  const loop::Buffer starts = Clamped(builder, "sparse_starts", args[2], nonzeros);
  const auto start = [&](const Expr& row) {
    return CastTo(DataType::kInt64, loop::Load(starts, {row}));
  };
  const DataType accumulator = AccumulatorType(data->dtype);
  const loop::Buffer sum = builder.Reduce(
      "sparse_dense", accumulator, result.tensor.shape,
      [&](const std::vector<Expr>& axes) {
        const Expr length = start(axes[0] + loop::IntConst(1)) - start(axes[0]);
        return std::vector<Expr>{Max(length, loop::IntConst(0))};
      },
      loop::NestBuilder::Combiner::kAdd, loop::Const(0, accumulator),
      [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
        const Expr at = start(axes[0]) + r[0];
        const Expr column = CastTo(DataType::kInt64, loop::Load(columns, {at}));
        return CastTo(accumulator, loop::Load(data, {at})) *
               CastTo(accumulator, loop::Load(dense, {column, axes[1]}));
      });
  return {CastStage(builder, "sparse_dense_cast", sum, result.tensor.dtype)};
}

}  // namespace

void RegisterSparseDense(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.min_args = op.max_args = 4;
  op.kind = FuseKind::kComplex;
  op.infer_type = InferSparseDense;
  op.define = DefineSparseDense;
  op.flops = [](const auto& args, const auto&, const auto& result) {
    return 2.0 * static_cast<double>(args[0].tensor.shape[0]) *
           static_cast<double>(result.tensor.shape[1]);
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
