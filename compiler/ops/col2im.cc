// col2im: sums blocks back into an image. data (N, C * taps, positions) gives (N, C, image...); the
// columns are the positions of a sliding window over the padded image, in row-major order.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "compiler/ops/window.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "col2im";

absl::StatusOr<Shape> PositionsOf(const Window& window, const Shape& image) {
  Shape positions;
  for (size_t i = 0; i < image.size(); ++i) {
    positions.push_back(window.Positions(i, image[i]));
    if (image[i] < 0 || positions[i] < 1) {
      return AttrError(kName, "image_shape", "extents that hold a block", ShapeText(image));
    }
  }
  return positions;
}

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data", 3));
  const Shape image = IntsAttr(attrs, "image_shape");
  const Shape taps = IntsAttr(attrs, "block_shape");
  if (image.empty() || image.size() != taps.size()) {
    return AttrError(kName, "block_shape", fmt::format("{} extents", image.size()),
                     ShapeText(taps));
  }
  if (!IsFloat(data.dtype)) return OperandError(kName, "data", "floats", data.ToString());
  HONE_ASSIGN_OR_RETURN(const Window window, ReadWindow(kName, attrs, taps));
  for (const int64_t extent : image) {
    if (extent < 0 || extent >= (int64_t{1} << 31)) {
      return AttrError(kName, "image_shape", "extents", ShapeText(image));
    }
  }
  HONE_ASSIGN_OR_RETURN(const Shape positions, PositionsOf(window, image));
  const int64_t block = Product(taps);
  if (block < 1 || data.shape[1] % block != 0 || data.shape[2] != Product(positions)) {
    return OperandError(kName, "data",
                        fmt::format("blocks of {} at {} positions", block, Product(positions)),
                        data.ToString());
  }
  Shape shape = {data.shape[0], data.shape[1] / block};
  shape.insert(shape.end(), image.begin(), image.end());
  return TensorOf(std::move(shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const Shape taps = IntsAttr(attrs, "block_shape");
  const Window window = *ReadWindow(kName, attrs, taps);
  const Shape positions = *PositionsOf(window, IntsAttr(attrs, "image_shape"));
  const DataType dtype = AccumulatorType(result.tensor.dtype);
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    Expr row = axes[1];
    Expr column = loop::IntConst(0);
    std::vector<Expr> met;
    for (size_t i = 0; i < taps.size(); ++i) {
      const Expr stride = loop::IntConst(window.strides[i]);
      const Expr at = axes[2 + i] + loop::IntConst(window.before[i]) -
                      r[i] * loop::IntConst(window.dilation[i]);
      const Expr position = FloorDiv(at, stride);
      met.push_back(InRange(position, 0, positions[i]));
      met.push_back(Eq(FloorMod(at, stride), loop::IntConst(0)));
      row = row * loop::IntConst(taps[i]) + r[i];
      column = column * loop::IntConst(positions[i]) + position;
    }
    return loop::Select(AllOf(met), CastTo(dtype, loop::Load(args[0], {axes[0], row, column})),
                        loop::Const(0, dtype));
  };
  const loop::Buffer sum =
      builder.Reduce(kName, dtype, result.tensor.shape, taps, loop::NestBuilder::Combiner::kAdd,
                     loop::Const(0, dtype), value);
  return {CastStage(builder, "col2im_cast", sum, result.tensor.dtype)};
}

}  // namespace

void RegisterCol2Im(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.kind = FuseKind::kComplex;
  op.attrs = {{"image_shape", AttrKind::kInts, true},
              {"block_shape", AttrKind::kInts, true},
              {"strides", AttrKind::kInts},
              {"padding", AttrKind::kInts},
              {"dilation", AttrKind::kInts}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto& args, const auto&, const auto&) {
    return static_cast<double>(args[0].tensor.ElementCount());
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
