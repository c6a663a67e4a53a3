// nn.deformable_columns: what a deformable convolution multiplies with its weights. For each
// position of the window (N, height, width), the taps (C, kernel height, kernel width), each read
// between the elements at where it lies plus its offset (y, then x), and times its mask. Beyond the
// data there are zeros.
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
using loop::UnaryOp;

constexpr char kName[] = "nn.deformable_columns";

absl::StatusOr<ir::TensorType> PlaneOperand(const std::vector<ir::Type>& args, size_t index,
                                            const char* operand, const ir::TensorType& data,
                                            const Shape& shape) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType type, TensorOperand(kName, args, index, operand, 4));
  if (type.dtype == data.dtype && type.shape == shape) return type;
  return OperandError(kName, operand,
                      fmt::format("{} of shape {}", Name(data.dtype), ShapeText(shape)),
                      type.ToString());
}

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data", 4));
  const Shape taps = IntsAttr(attrs, "kernel_size");
  const int64_t groups = IntAttr(attrs, "groups", 1);
  if (!IsFloat(data.dtype) || Product(data.shape) == 0) {
    return OperandError(kName, "data", "floats, not empty", data.ToString());
  }
  if (taps.size() != 2 || taps[0] < 1 || taps[1] < 1) {
    return AttrError(kName, "kernel_size", "two positive extents", ShapeText(taps));
  }
  if (groups < 1 || data.shape[1] % groups != 0) {
    return AttrError(kName, "groups", fmt::format("a divisor of {} channels", data.shape[1]),
                     fmt::format("{}", groups));
  }
  HONE_ASSIGN_OR_RETURN(const Window window, ReadWindow(kName, attrs, taps));
  Shape positions = {data.shape[0], data.shape[1]};
  HONE_RETURN_IF_ERROR(AppendWindowOutput(kName, window, data, &positions));
  // Offsets have two of each, so what overflows is the plane of no operand.
  int64_t rows = 0;
  if (__builtin_mul_overflow(2 * taps[0], taps[1], &rows) ||
      __builtin_mul_overflow(rows, groups, &rows)) {
    return AttrError(kName, "kernel_size", "a smaller window", ShapeText(taps));
  }
  Shape plane = {positions[0], rows / 2, positions[2], positions[3]};
  if (args.size() > 2) {
    HONE_RETURN_IF_ERROR(PlaneOperand(args, 2, "mask", data, plane).status());
  }
  plane[1] *= 2;
  HONE_RETURN_IF_ERROR(PlaneOperand(args, 1, "offset", data, plane).status());
  return TensorOf({positions[0], positions[2], positions[3], data.shape[1], taps[0], taps[1]},
                  data.dtype);
}

// Along one axis: the element below a position, and the share of the one above.
struct Between {
  Expr below;
  Expr fraction;
};

class Columns {
 public:
  Columns(const std::vector<loop::Buffer>& args, const ir::Attrs& attrs)
      : args_(args),
        taps_(IntsAttr(attrs, "kernel_size")),
        window_(*ReadWindow(kName, attrs, taps_)),
        group_channels_(args[0]->shape[1] / IntAttr(attrs, "groups", 1)),
        dtype_(AccumulatorType(args[0]->dtype)) {}

  // `axes`: image, row and column of the position, channel, row and column of the tap.
  Expr At(const std::vector<Expr>& axes) const {
    const Between y = Position(axes, 0);
    const Between x = Position(axes, 1);
    const Expr one = loop::Const(1, dtype_);
    const Expr above_y = y.below + loop::IntConst(1);
    const Expr above_x = x.below + loop::IntConst(1);
    Expr sum = Corner(axes, y.below, x.below) * ((one - y.fraction) * (one - x.fraction)) +
               Corner(axes, y.below, above_x) * ((one - y.fraction) * x.fraction) +
               Corner(axes, above_y, x.below) * (y.fraction * (one - x.fraction)) +
               Corner(axes, above_y, above_x) * (y.fraction * x.fraction);
    if (args_.size() > 2) sum = sum * Plane(args_[2], Tap(axes), axes);
    return CastTo(args_[0]->dtype, sum);
  }

 private:
  // Which tap of all deformable groups it is.
  Expr Tap(const std::vector<Expr>& axes) const {
    const Expr group = FloorDiv(axes[3], loop::IntConst(group_channels_));
    return (group * loop::IntConst(taps_[0]) + axes[4]) * loop::IntConst(taps_[1]) + axes[5];
  }
  Expr Plane(const loop::Buffer& planes, const Expr& plane, const std::vector<Expr>& axes) const {
    return CastTo(dtype_, loop::Load(planes, {axes[0], plane, axes[1], axes[2]}));
  }

  // All elements more than one beyond the data are zero, so positions are held near it.
  Between Position(const std::vector<Expr>& axes, int axis) const {
    const Expr regular = axes[1 + axis] * loop::IntConst(window_.strides[axis]) +
                         axes[4 + axis] * loop::IntConst(window_.dilation[axis]) -
                         loop::IntConst(window_.before[axis]);
    const Expr moved = CastTo(dtype_, regular) +
                       Plane(args_[1], Tap(axes) * loop::IntConst(2) + loop::IntConst(axis), axes);
    const auto extent = static_cast<double>(args_[0]->shape[2 + axis]);
    const Expr at =
        Min(Max(moved, loop::FloatConst(-2, dtype_)), loop::FloatConst(extent + 1, dtype_));
    const Expr below = loop::Unary(UnaryOp::kFloor, at);
    return {CastTo(DataType::kInt64, below), at - below};
  }

  Expr Corner(const std::vector<Expr>& axes, const Expr& row, const Expr& column) const {
    const auto clamped = [](const Expr& at, int64_t extent) {
      return Min(Max(at, loop::IntConst(0)), loop::IntConst(extent - 1));
    };
    const Shape& shape = args_[0]->shape;
    const Expr element =
        loop::Load(args_[0], {axes[0], axes[3], clamped(row, shape[2]), clamped(column, shape[3])});
    return loop::Select(And(InRange(row, 0, shape[2]), InRange(column, 0, shape[3])),
                        CastTo(dtype_, element), loop::Const(0, dtype_));
  }

  const std::vector<loop::Buffer>& args_;
  Shape taps_;
  Window window_;
  int64_t group_channels_;
  DataType dtype_;
};

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const Columns columns(args, attrs);
  return {builder.Compute("deformable_columns", result.tensor.dtype, result.tensor.shape,
                          [&](const std::vector<Expr>& axes) { return columns.At(axes); })};
}

}  // namespace

void RegisterDeformableColumns(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.min_args = 2;
  op.max_args = 3;
  op.attrs = {{"kernel_size", AttrKind::kInts, true},
              {"strides", AttrKind::kInts},
              {"padding", AttrKind::kInts},
              {"dilation", AttrKind::kInts},
              {"groups", AttrKind::kInt}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto&, const auto&, const auto& result) {
    return 17.0 * static_cast<double>(result.tensor.ElementCount());
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
