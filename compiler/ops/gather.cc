// gather_elements and gather_nd: elements of the data at positions that other tensors hold.
// Negative positions count from the end, others are clamped into the data, so no index reads beyond
// it.
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

absl::StatusOr<ir::TensorType> Indices(const char* op, const std::vector<ir::Type>& args) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType indices, TensorOperand(op, args, 1, "indices"));
  if (!IsInteger(indices.dtype)) return OperandError(op, "indices", "integers", indices.ToString());
  return indices;
}

absl::Status CheckNotEmpty(const char* op, const ir::TensorType& data,
                           const ir::TensorType& indices) {
  if (Product(data.shape) != 0 || Product(indices.shape) == 0) return absl::OkStatus();
  return OperandError(op, "data", "a tensor that is not empty", data.ToString());
}

// result[i, j, k] = data[i, indices[i, j, k], k] for axis 1.
absl::StatusOr<ir::Type> InferElements(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  constexpr char kName[] = "gather_elements";
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType indices, Indices(kName, args));
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(kName, IntAttr(attrs, "axis", 0), data.shape.size()));
  bool fits = indices.shape.size() == data.shape.size();
  for (size_t i = 0; fits && i < data.shape.size(); ++i) {
    fits = static_cast<int64_t>(i) == axis || indices.shape[i] <= data.shape[i];
  }
  if (!fits) {
    return OperandError(kName, "indices",
                        fmt::format("no more than {} but for axis {}", data.ToString(), axis),
                        indices.ToString());
  }
  HONE_RETURN_IF_ERROR(CheckNotEmpty(kName, data, indices));
  return TensorOf(indices.shape, data.dtype);
}

std::vector<loop::Buffer> DefineElements(loop::NestBuilder& builder,
                                         const std::vector<loop::Buffer>& args,
                                         const ir::Attrs& attrs, const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const int64_t axis =
      *NormalizeAxis("gather_elements", IntAttr(attrs, "axis", 0), data->shape.size());
  return {builder.Compute("gather_elements", data->dtype, result.tensor.shape,
                          [&](const std::vector<Expr>& axes) {
                            std::vector<Expr> index = axes;
                            index[axis] = IndexWithin(loop::Load(args[1], axes), data->shape[axis]);
                            return loop::Load(data, index);
                          })};
}

// The innermost axis of the indices holds positions in the axes of the data from batch_dims on; the
// first batch_dims axes of both are one.
absl::StatusOr<ir::Type> InferNd(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  constexpr char kName[] = "gather_nd";
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType indices, Indices(kName, args));
  const int64_t batch = IntAttr(attrs, "batch_dims", 0);
  const auto rank = static_cast<int64_t>(data.shape.size());
  const auto indices_rank = static_cast<int64_t>(indices.shape.size());
  if (batch < 0 || batch >= rank || batch >= indices_rank) {
    return AttrError(kName, "batch_dims", "less than both ranks", fmt::format("{}", batch));
  }
  const int64_t depth = indices.shape.back();
  const bool same_batch =
      std::equal(data.shape.begin(), data.shape.begin() + batch, indices.shape.begin());
  if (!same_batch || depth < 1 || depth > rank - batch) {
    return OperandError(kName, "indices",
                        fmt::format("up to {} positions and the first {} axes of {}", rank - batch,
                                    batch, data.ToString()),
                        indices.ToString());
  }
  HONE_RETURN_IF_ERROR(CheckNotEmpty(kName, data, indices));
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), data.shape.begin() + batch + depth, data.shape.end());
  return TensorOf(std::move(shape), data.dtype);
}

std::vector<loop::Buffer> DefineNd(loop::NestBuilder& builder,
                                   const std::vector<loop::Buffer>& args, const ir::Attrs& attrs,
                                   const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const int64_t batch = IntAttr(attrs, "batch_dims", 0);
  const auto outer = static_cast<int64_t>(args[1]->shape.size()) - 1;
  const int64_t depth = args[1]->shape.back();
  return {builder.Compute(
      "gather_nd", data->dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        std::vector<Expr> index(axes.begin(), axes.begin() + batch);
        for (int64_t i = 0; i < depth; ++i) {
          std::vector<Expr> at(axes.begin(), axes.begin() + outer);
          at.push_back(loop::IntConst(i));
          index.push_back(IndexWithin(loop::Load(args[1], at), data->shape[batch + i]));
        }
        index.insert(index.end(), axes.begin() + outer, axes.end());
        return loop::Load(data, index);
      })};
}

}  // namespace

void RegisterGather(std::vector<Op>& table) {
  Op elements = InjectiveOp("gather_elements", 2, {{"axis", AttrKind::kInt}});
  elements.infer_type = InferElements;
  elements.define = DefineElements;
  table.push_back(std::move(elements));

  Op nd = InjectiveOp("gather_nd", 2, {{"batch_dims", AttrKind::kInt}});
  nd.infer_type = InferNd;
  nd.define = DefineNd;
  table.push_back(std::move(nd));
}

}  // namespace hone::ops
