// nn.roi_pool: each region of interest (image, x1, y1, x2, y2 in rois, corners included) as a grid
// of bins; a bin is the maximum of the elements it touches, and 0 where it lies beyond the data.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using loop::UnaryOp;

constexpr char kName[] = "nn.roi_pool";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data", 4));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType rois, TensorOperand(kName, args, 1, "rois", 2));
  if (!IsFloat(data.dtype) || Product(data.shape) == 0) {
    return OperandError(kName, "data", "floats, not empty", data.ToString());
  }
  if (rois.dtype != data.dtype || rois.shape[1] != 5) {
    return OperandError(kName, "rois", fmt::format("five {} a region", Name(data.dtype)),
                        rois.ToString());
  }
  const Shape pooled = IntsAttr(attrs, "pooled_size");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) {
    return AttrError(kName, "pooled_size", "two positive extents", ShapeText(pooled));
  }
  return TensorOf({rois.shape[0], data.shape[1], pooled[0], pooled[1]}, data.dtype);
}

// The elements [begin, end) that a bin touches along one axis (0: height, 1: width).
struct Range {
  Expr begin;
  Expr end;
};

Range BinOf(const std::vector<loop::Buffer>& args, const ir::Attrs& attrs, int axis,
            const std::vector<Expr>& axes) {
  const DataType dtype = AccumulatorType(args[0]->dtype);
  const auto number = [&](double value) { return loop::FloatConst(value, dtype); };
  const int64_t extent = args[0]->shape[2 + axis];
  // Rounded half away from 0, and held where indices are exact.
  const auto corner = [&](int column) {
    const Expr at = CastTo(dtype, loop::Load(args[1], {axes[0], loop::IntConst(column)})) *
                    number(FloatAttr(attrs, "spatial_scale", 1));
    const Expr up = loop::Unary(UnaryOp::kFloor, at + number(0.5));
    const Expr down = loop::Unary(UnaryOp::kCeil, at - number(0.5));
    return Min(Max(loop::Select(Ge(at, number(0)), up, down), number(-1e6)), number(1e6));
  };
  const Expr start = corner(axis == 0 ? 2 : 1);
  const Expr size = Max(corner(axis == 0 ? 4 : 3) - start + number(1), number(1));
  const Expr bin = Divide(size, number(static_cast<double>(IntsAttr(attrs, "pooled_size")[axis])));
  const Expr index = CastTo(dtype, axes[2 + axis]);
  const auto within = [&](const Expr& at) {
    return CastTo(DataType::kInt64,
                  Min(Max(at + start, number(0)), number(static_cast<double>(extent))));
  };
  return {within(loop::Unary(UnaryOp::kFloor, index * bin)),
          within(loop::Unary(UnaryOp::kCeil, (index + number(1)) * bin))};
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const auto counts = [&](const std::vector<Expr>& axes) {
    std::vector<Expr> extents;
    for (const int axis : {0, 1}) {
      const Range range = BinOf(args, attrs, axis, axes);
      extents.push_back(Min(Max(range.end - range.begin, loop::IntConst(0)),
                            loop::IntConst(data->shape[2 + axis])));
    }
    return extents;
  };
  const loop::Buffer most = builder.Reduce(
      "roi_pool_max", data->dtype, result.tensor.shape, counts, loop::NestBuilder::Combiner::kMax,
      LowestOf(data->dtype), [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
        std::vector<Expr> at = {
            IndexWithin(CastTo(DataType::kInt64, loop::Load(args[1], {axes[0], loop::IntConst(0)})),
                        data->shape[0]),
            axes[1]};
        for (const int axis : {0, 1}) {
          const Expr begin = BinOf(args, attrs, axis, axes).begin;
          at.push_back(Min(begin + r[axis], loop::IntConst(data->shape[2 + axis] - 1)));
        }
        return loop::Load(data, at);
      });
  return {builder.Compute(
      "roi_pool", data->dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        const std::vector<Expr> n = counts(axes);
        return loop::Select(Eq(n[0] * n[1], loop::IntConst(0)), loop::Const(0, data->dtype),
                            loop::Load(most, axes));
      })};
}

}  // namespace

void RegisterRoiPool(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.min_args = op.max_args = 2;
  op.attrs = {{"pooled_size", AttrKind::kInts, true}, {"spatial_scale", AttrKind::kFloat}};
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
