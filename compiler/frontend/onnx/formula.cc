#include "compiler/frontend/onnx/formula.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/status.h"

namespace hone::frontend {

ir::Expr Formula::Call(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs) {
  if (!status_.ok()) return nullptr;
  if (std::find(args.begin(), args.end(), nullptr) != args.end()) return nullptr;
  absl::StatusOr<ir::Expr> call = Emit(op, std::move(args), std::move(attrs));
  if (call.ok()) return *std::move(call);
  status_ = std::move(call).status();
  return nullptr;
}

ir::Expr Formula::Number(double value, const ir::Expr& like) {
  return like ? ScalarConstant(value, DtypeOf(like)) : nullptr;
}

ir::Expr Formula::Cast(const ir::Expr& x, DataType dtype) {
  return x && DtypeOf(x) == dtype ? x : Call("cast", {x}, {{"dtype", dtype}});
}

ir::Expr Formula::Reshape(const ir::Expr& x, const Shape& shape) {
  if (!x || ShapeOf(x) == shape) return x;
  // reshape reads a 0 as "as it was"; of no elements there is but one tensor of a shape.
  const bool empty = x->type->tensor.ElementCount() == 0;
  if (empty) return MakeConstant(shape, DtypeOf(x), "");
  return Call("reshape", {x}, {{"newshape", shape}});
}

ir::Expr Formula::Transpose(const ir::Expr& x, const Shape& axes) {
  return std::is_sorted(axes.begin(), axes.end()) ? x : Call("transpose", {x}, {{"axes", axes}});
}

ir::Expr Formula::Wide(const ir::Expr& x) {
  if (!x) return x;
  const bool half = DtypeOf(x) == DataType::kFloat16 || DtypeOf(x) == DataType::kBFloat16;
  return half ? Cast(x, DataType::kFloat32) : x;
}

Results Formula::Finish(std::vector<ir::Expr> results) const {
  HONE_RETURN_IF_ERROR(status_);
  return results;
}

absl::StatusOr<ir::Expr> Formula::FinishOne(ir::Expr result) const {
  HONE_RETURN_IF_ERROR(status_);
  return result;
}

Shape AlongAxis(int64_t extent, int64_t axis, int64_t rank) {
  Shape shape(rank, 1);
  shape[axis] = extent;
  return shape;
}

absl::StatusOr<int64_t> AxisOf(int64_t axis, const ir::Expr& data, bool end) {
  const int64_t rank = RankOf(data);
  if (axis < -rank || axis >= rank + (end ? 1 : 0)) {
    return absl::InvalidArgumentError(
        fmt::format("an axis of {} was expected, found {}", data->type->ToString(), axis));
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace hone::frontend
