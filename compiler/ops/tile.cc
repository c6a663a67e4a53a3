// tile and broadcast_to: the data over and over along its axes.
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

// One entry of `reps` an axis of the result; where the data has fewer axes, ones are put before.
absl::StatusOr<ir::Type> InferTile(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand("tile", args, 0, "data"));
  Shape shape = IntsAttr(attrs, "reps");
  if (shape.size() < data.shape.size()) {
    return AttrError("tile", "reps", fmt::format("at least {} integers", data.shape.size()),
                     ShapeText(shape));
  }
  const size_t skip = shape.size() - data.shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t extent = i < skip ? 1 : data.shape[i - skip];
    if (shape[i] < 0 || __builtin_mul_overflow(shape[i], extent, &shape[i])) {
      return AttrError("tile", "reps", "numbers of repetitions",
                       ShapeText(IntsAttr(attrs, "reps")));
    }
  }
  return TensorOf(std::move(shape), data.dtype);
}

std::vector<loop::Buffer> DefineTile(loop::NestBuilder& builder, const loop::Buffer& data,
                                     const ir::Type& result) {
  const Shape& shape = result.tensor.shape;
  const size_t skip = shape.size() - data->shape.size();
  return {builder.Compute("tile", data->dtype, shape, [&](const std::vector<Expr>& axes) {
    std::vector<Expr> index;
    for (size_t i = skip; i < axes.size(); ++i) {
      const int64_t extent = data->shape[i - skip];
      // An empty axis is never read.
      index.push_back(
          shape[i] == extent || extent == 0 ? axes[i] : FloorMod(axes[i], loop::IntConst(extent)));
    }
    return loop::Load(data, index);
  })};
}

absl::StatusOr<ir::Type> InferBroadcast(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  constexpr char kName[] = "broadcast_to";
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  const Shape shape = IntsAttr(attrs, "shape");
  for (const int64_t extent : shape) {
    if (extent < 0) return AttrError(kName, "shape", "extents of at least 0", ShapeText(shape));
  }
  HONE_ASSIGN_OR_RETURN(const Shape both, BroadcastShape(kName, data.shape, shape));
  if (both != shape) {
    return OperandError(kName, "data", "a shape that broadcasts to " + ShapeText(shape),
                        data.ToString());
  }
  return TensorOf(shape, data.dtype);
}

}  // namespace

void RegisterTile(std::vector<Op>& table) {
  Op tile = InjectiveOp("tile", 1, {{"reps", AttrKind::kInts, true}});
  tile.infer_type = InferTile;
  tile.define = [](auto& builder, const auto& args, const auto&, const auto& result) {
    return DefineTile(builder, args[0], result);
  };
  table.push_back(std::move(tile));

  Op broadcast = InjectiveOp("broadcast_to", 1, {{"shape", AttrKind::kInts, true}});
  broadcast.kind = FuseKind::kBroadcast;
  broadcast.infer_type = InferBroadcast;
  broadcast.define = [](auto& builder, const auto& args, const auto&,
                        const auto& result) -> std::vector<loop::Buffer> {
    return {builder.Compute(
        "broadcast_to", result.tensor.dtype, result.tensor.shape,
        [&](const std::vector<Expr>& axes) { return BroadcastLoad(args[0], axes); })};
  };
  table.push_back(std::move(broadcast));
}

}  // namespace hone::ops
