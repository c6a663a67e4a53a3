// transpose, and layout_transform, which moves no logical element: it says that the physical layout
// changes, and its kernel's layout signature says how.
#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/injective.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

// Axis i of the result is axis permutation[i] of the data; reversed where no axes are given.
absl::StatusOr<Shape> Permutation(const ir::Attrs& attrs, size_t rank) {
  Shape axes = IntsAttr(attrs, "axes");
  for (size_t i = rank; axes.size() < rank && i > 0 && !attrs.contains("axes"); --i) {
    axes.push_back(static_cast<int64_t>(i) - 1);
  }
  std::vector<bool> seen(rank, false);
  for (int64_t& axis : axes) {
    HONE_ASSIGN_OR_RETURN(axis, NormalizeAxis("transpose", axis, rank));
    seen[axis] = true;
  }
  for (const bool s : seen) {
    if (!s || axes.size() != rank) {
      return AttrError("transpose", "axes", "each axis of the data once",
                       ShapeText(IntsAttr(attrs, "axes")));
    }
  }
  return axes;
}

absl::StatusOr<ir::Type> InferTranspose(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand("transpose", args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const Shape axes, Permutation(attrs, data.shape.size()));
  Shape shape;
  for (const int64_t axis : axes) shape.push_back(data.shape[axis]);
  return TensorOf(std::move(shape), data.dtype);
}

std::vector<loop::Buffer> DefineTranspose(loop::NestBuilder& builder, const loop::Buffer& data,
                                          const ir::Attrs& attrs, const ir::Type& result) {
  const Shape permutation = *Permutation(attrs, data->shape.size());
  return {builder.Compute("transpose", data->dtype, result.tensor.shape,
                          [&](const std::vector<Expr>& axes) {
                            std::vector<Expr> index(axes.size());
                            for (size_t i = 0; i < axes.size(); ++i)
                              index[permutation[i]] = axes[i];
                            return loop::Load(data, index);
                          })};
}

absl::StatusOr<ir::Type> InferLayoutTransform(const std::vector<ir::Type>& args,
                                              const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data,
                        TensorOperand("layout_transform", args, 0, "data"));
  for (const char* const name : {"src_layout", "dst_layout"}) {
    const std::string text = StringAttr(attrs, name, "");
    const int rank = static_cast<int>(data.shape.size());
    if (attrs.contains(name) && !Layout::Parse(text, rank)) {
      return AttrError("layout_transform", name, "a layout of the axes " + AxisLetters(rank), text);
    }
  }
  return TensorOf(data.shape, data.dtype);
}

}  // namespace

void RegisterTranspose(std::vector<Op>& table) {
  Op transpose = InjectiveOp("transpose", 1, {{"axes", AttrKind::kInts}});
  transpose.infer_type = InferTranspose;
  transpose.define = [](auto& builder, const auto& args, const auto& attrs, const auto& result) {
    return DefineTranspose(builder, args[0], attrs, result);
  };
  table.push_back(std::move(transpose));

  Op layout = InjectiveOp("layout_transform", 1,
                          {{"src_layout", AttrKind::kString}, {"dst_layout", AttrKind::kString}});
  layout.infer_type = InferLayoutTransform;
  layout.define = [](auto& builder, const auto& args, const auto&,
                     const auto& result) -> std::vector<loop::Buffer> {
    return {
        builder.Compute("layout_transform", result.tensor.dtype, result.tensor.shape,
                        [&](const std::vector<Expr>& axes) { return loop::Load(args[0], axes); })};
  };
  table.push_back(std::move(layout));
}

}  // namespace hone::ops
