#include "compiler/frontend/onnx/formula.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/status.h"

namespace hone::frontend {

ir::Expr Formula::Call(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs) {
  if (!status_.ok()) return nullptr;
  if (std::find(args.begin(), args.end(), nullptr) != args.end()) return nullptr;
  return Take(Emit(op, std::move(args), std::move(attrs)));
}

ir::Expr Formula::Take(absl::StatusOr<ir::Expr> made) {
  if (!status_.ok()) return nullptr;
  if (made.ok()) return *std::move(made);
  status_ = std::move(made).status();
  return nullptr;
}

ir::Expr Formula::Number(double value, const ir::Expr& like) {
  return like ? ScalarConstant(value, DtypeOf(like)) : nullptr;
}

ir::Expr Formula::Cast(const ir::Expr& x, DataType dtype) {
  return x ? Take(CastedTo(x, dtype)) : nullptr;
}

ir::Expr Formula::Reshape(const ir::Expr& x, const Shape& shape) {
  return x ? Take(ReshapedTo(x, shape)) : nullptr;
}

ir::Expr Formula::Squeezed(const ir::Expr& x) {
  return x && x->type->tensor.ElementCount() == 1 ? Reshape(x, {}) : x;
}

ir::Expr Formula::Transpose(const ir::Expr& x, const Shape& axes) {
  return std::is_sorted(axes.begin(), axes.end()) ? x : Call("transpose", {x}, {{"axes", axes}});
}

ir::Expr Formula::Slice(const ir::Expr& x, int64_t axis, int64_t begin, int64_t end) {
  return x ? Take(SliceOf(x, axis, begin, end)) : nullptr;
}

ir::Expr Formula::Concat(std::vector<ir::Expr> parts, int64_t axis) {
  if (std::find(parts.begin(), parts.end(), nullptr) != parts.end()) return nullptr;
  return Take(ConcatenationOf(std::move(parts), axis));
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

ir::Expr ZeroPoint(Formula& f, const NodeReader& node, size_t i, DataType dtype) {
  return node.Has(i) ? f.Squeezed(node.args()[i]) : ScalarConstant(0, dtype);
}

Shape AlongAxis(int64_t extent, int64_t axis, int64_t rank) {
  Shape shape(rank, 1);
  shape[axis] = extent;
  return shape;
}

}  // namespace hone::frontend
