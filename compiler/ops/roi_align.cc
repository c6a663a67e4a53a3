// nn.roi_align: each region of interest (x1, y1, x2, y2 in rois, its image in batch_indices) as a
// grid of bins; a bin is the mean, or the maximum, of samples read between the elements.
// sampling_ratio samples a bin and axis, as many as the bin has elements where it is 0. aligned:
// pixels are squares, their centres at halves.
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
using Combiner = loop::NestBuilder::Combiner;

constexpr char kName[] = "nn.roi_align";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data", 4));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType rois, TensorOperand(kName, args, 1, "rois", 2));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType batch,
                        TensorOperand(kName, args, 2, "batch_indices", 1));
  if (!IsFloat(data.dtype) || Product(data.shape) == 0) {
    return OperandError(kName, "data", "floats, not empty", data.ToString());
  }
  if (rois.dtype != data.dtype || rois.shape[1] != 4) {
    return OperandError(kName, "rois", fmt::format("four {} a region", Name(data.dtype)),
                        rois.ToString());
  }
  if (!IsInteger(batch.dtype) || batch.shape[0] != rois.shape[0]) {
    return OperandError(kName, "batch_indices", fmt::format("{} integers", rois.shape[0]),
                        batch.ToString());
  }
  const Shape pooled = IntsAttr(attrs, "pooled_size");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) {
    return AttrError(kName, "pooled_size", "two positive extents", ShapeText(pooled));
  }
  if (IntAttr(attrs, "sampling_ratio", 0) < 0) {
    return AttrError(kName, "sampling_ratio", "at least 0", "less");
  }
  const std::string mode = StringAttr(attrs, "mode", "avg");
  if (mode != "avg" && mode != "max") return AttrError(kName, "mode", "avg or max", mode);
  return TensorOf({rois.shape[0], data.shape[1], pooled[0], pooled[1]}, data.dtype);
}

// Samples of the bins of a region along one axis (0: height, 1: width).
class AxisSamples {
 public:
  AxisSamples(const std::vector<loop::Buffer>& args, const ir::Attrs& attrs, int axis,
              const Expr& roi)
      : dtype_(AccumulatorType(args[0]->dtype)),
        extent_(args[0]->shape[2 + axis]),
        pooled_(IntsAttr(attrs, "pooled_size")[axis]) {
    const bool aligned = BoolAttr(attrs, "aligned", false);
    const auto corner = [&](int column) {
      const Expr at = CastTo(dtype_, loop::Load(args[1], {roi, loop::IntConst(column)})) *
                      Number(FloatAttr(attrs, "spatial_scale", 1));
      return aligned ? at - Number(0.5) : at;
    };
    start_ = corner(axis == 0 ? 1 : 0);
    Expr size = corner(axis == 0 ? 3 : 2) - start_;
    if (!aligned) size = Max(size, Number(1));
    bin_ = Divide(size, Number(static_cast<double>(pooled_)));
    const int64_t ratio = IntAttr(attrs, "sampling_ratio", 0);
    constexpr int64_t kMostSamples = 1 << 16;
    count_ = ratio > 0 ? loop::IntConst(ratio)
                       : Min(Max(CastTo(DataType::kInt64, loop::Unary(UnaryOp::kCeil, bin_)),
                                 loop::IntConst(0)),
                             loop::IntConst(kMostSamples));
  }

  const Expr& count() const { return count_; }

  Expr Position(const Expr& bin, const Expr& sample) const {
    return start_ + CastTo(dtype_, bin) * bin_ +
           Divide((CastTo(dtype_, sample) + Number(0.5)) * bin_, CastTo(dtype_, count_));
  }
  Expr IsInside(const Expr& at) const {
    return And(Ge(at, Number(-1)), Le(at, Number(static_cast<double>(extent_))));
  }
  // The element below the position and the one above, and how far the position is from the former.
  struct Between {
    Expr low, high, fraction;
  };
  Between ElementsAround(const Expr& position) const {
    const Expr last = loop::IntConst(extent_ - 1);
    const Expr at = Min(Max(position, Number(0)), Number(static_cast<double>(extent_ - 1)));
    const Expr low = Min(Max(CastTo(DataType::kInt64, at), loop::IntConst(0)), last);
    return {low, Min(low + loop::IntConst(1), last), at - CastTo(dtype_, low)};
  }

 private:
  Expr Number(double value) const { return loop::FloatConst(value, dtype_); }

  DataType dtype_;
  int64_t extent_;
  int64_t pooled_;
  Expr start_;
  Expr bin_;
  Expr count_;
};

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const DataType dtype = AccumulatorType(data->dtype);
  const bool average = StringAttr(attrs, "mode", "avg") == "avg";
  const auto samples = [&](int axis, const Expr& roi) {
    return AxisSamples(args, attrs, axis, roi);
  };
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    const AxisSamples rows = samples(0, axes[0]);
    const AxisSamples columns = samples(1, axes[0]);
    const Expr y = rows.Position(axes[2], r[0]);
    const Expr x = columns.Position(axes[3], r[1]);
    const auto vertical = rows.ElementsAround(y);
    const auto horizontal = columns.ElementsAround(x);
    const Expr image = IndexWithin(loop::Load(args[2], {axes[0]}), data->shape[0]);
    const auto corner = [&](const Expr& row, const Expr& column, const Expr& wy, const Expr& wx) {
      return CastTo(dtype, loop::Load(data, {image, axes[1], row, column})) * (wy * wx);
    };
    const Expr one = loop::Const(1, dtype);
    const Expr ly = vertical.fraction;
    const Expr lx = horizontal.fraction;
    const Expr a = corner(vertical.low, horizontal.low, one - ly, one - lx);
    const Expr b = corner(vertical.low, horizontal.high, one - ly, lx);
    const Expr c = corner(vertical.high, horizontal.low, ly, one - lx);
    const Expr d = corner(vertical.high, horizontal.high, ly, lx);
    return loop::Select(And(rows.IsInside(y), columns.IsInside(x)),
                        average ? a + b + c + d : Max(Max(a, b), Max(c, d)), loop::Const(0, dtype));
  };
  const auto counts = [&](const std::vector<Expr>& axes) {
    return std::vector<Expr>{samples(0, axes[0]).count(), samples(1, axes[0]).count()};
  };
  const loop::Buffer pooled =
      builder.Reduce("roi_align_pool", dtype, result.tensor.shape, counts,
                     average ? Combiner::kAdd : Combiner::kMax,
                     average ? loop::Const(0, dtype) : LowestOf(dtype), value);
  return {builder.Compute(
      "roi_align", data->dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        const std::vector<Expr> n = counts(axes);
        const Expr count = n[0] * n[1];
        const Expr total = loop::Load(pooled, axes);
        const Expr mean = Divide(total, CastTo(dtype, Max(count, loop::IntConst(1))));
        const Expr found = loop::Select(Eq(count, loop::IntConst(0)), loop::Const(0, dtype), total);
        return CastTo(data->dtype, average ? mean : found);
      })};
}

}  // namespace

void RegisterRoiAlign(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.min_args = op.max_args = 3;
  op.attrs = {{"pooled_size", AttrKind::kInts, true},
              {"sampling_ratio", AttrKind::kInt},
              {"spatial_scale", AttrKind::kFloat},
              {"mode", AttrKind::kString},
              {"aligned", AttrKind::kBool}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto&, const auto& attrs, const auto& result) {
    const double ratio =
        static_cast<double>(std::max<int64_t>(IntAttr(attrs, "sampling_ratio", 0), 1));
    return 11.0 * ratio * ratio * static_cast<double>(result.tensor.ElementCount());
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
