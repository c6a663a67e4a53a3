#include "compiler/frontend/tensorflow/layout.h"

#include <algorithm>
#include <cstring>

#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

const Shape& FirstAxes() {
  static const Shape* const axes = new Shape{0, 3, 1, 2};
  return *axes;
}
const Shape& LastAxes() {
  static const Shape* const axes = new Shape{0, 2, 3, 1};
  return *axes;
}

Shape Permuted(const Shape& shape, const Shape& axes) {
  Shape result;
  for (const int64_t axis : axes) result.push_back(shape[axis]);
  return result;
}

// No two axes of more than one element change their order.
bool KeepsOrder(const Shape& shape, const Shape& axes) {
  int64_t last = -1;
  for (const int64_t axis : axes) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool IsTransposeBy(const ir::Expr& e, const Shape& axes) {
  return ir::IsCall(e, "transpose") && ir::GetAttr<Shape>(e->attrs, "axes", {}) == axes;
}

// Walks the result in order; the innermost axis is a strided copy.
void CopyTransposed(const ir::ExprNode& constant, const Shape& axes, size_t element, char* to) {
  const Shape& shape = constant.type->tensor.shape;
  const size_t rank = shape.size();
  Shape strides(rank, static_cast<int64_t>(element));
  for (size_t i = rank - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
  const Shape extents = Permuted(shape, axes);
  const Shape steps = Permuted(strides, axes);
  const auto* const from = reinterpret_cast<const char*>(constant.data.bytes());
  Shape at(rank, 0);
  int64_t offset = 0;
  for (size_t done = 0; done < constant.data.size_bytes(); done += element) {
    std::memcpy(to + done, from + offset, element);
    for (size_t i = rank; i-- > 0;) {
      offset += steps[i];
      if (++at[i] < extents[i]) break;
      offset -= steps[i] * extents[i];
      at[i] = 0;
    }
  }
}

}  // namespace

Shape GivenShape(const Value& value) {
  const Shape& shape = ShapeOf(value.e);
  return value.channels_first ? Permuted(shape, LastAxes()) : shape;
}

absl::StatusOr<ir::Expr> Reshaped(const ir::Expr& e, const Shape& shape) {
  if (e->kind != ir::ExprKind::kConstant) return ReshapedTo(e, shape);
  return ir::Constant({shape, DtypeOf(e)}, e->data);
}

absl::StatusOr<ir::Expr> Layouts::MakeTransposed(const ir::Expr& e, const Shape& axes) {
  const Shape& shape = ShapeOf(e);
  if (KeepsOrder(shape, axes)) return Reshaped(e, Permuted(shape, axes));
  if (e->kind != ir::ExprKind::kConstant) return Emit("transpose", {e}, {{"axes", axes}});
  HONE_RETURN_IF_ERROR(allowance_.Take(static_cast<int64_t>(e->data.size_bytes())));
  std::string bytes(e->data.size_bytes(), '\0');
  CopyTransposed(*e, axes, SizeBytes(DtypeOf(e)), bytes.data());
  return MakeConstant(Permuted(shape, axes), DtypeOf(e), std::move(bytes));
}

absl::StatusOr<ir::Expr> Layouts::Transposed(const ir::Expr& e, const Shape& axes) {
  if (std::is_sorted(axes.begin(), axes.end())) return e;
  ir::Expr& result = transposed_[{e, axes}];
  if (!result) {
    HONE_ASSIGN_OR_RETURN(result, MakeTransposed(e, axes));
  }
  return result;
}

absl::StatusOr<ir::Expr> Layouts::ChannelsFirst(const Value& value) {
  if (value.channels_first) return value.e;
  if (IsTransposeBy(value.e, LastAxes())) return value.e->args[0];
  return Transposed(value.e, FirstAxes());
}

absl::StatusOr<ir::Expr> Layouts::AsGiven(const Value& value) {
  if (!value.channels_first) return value.e;
  if (IsTransposeBy(value.e, FirstAxes())) return value.e->args[0];
  return Transposed(value.e, LastAxes());
}

absl::StatusOr<ir::Expr> Layouts::InGivenOrder(const Value& value) {
  const bool in_order = value.channels_first && KeepsOrder(ShapeOf(value.e), LastAxes());
  return in_order ? value.e : AsGiven(value);
}

}  // namespace hone::frontend::tf
