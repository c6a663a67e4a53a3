// strided_slice: begin, end and strides for the axes named (all, in order, where none are).
// Negative positions count from the end, positions beyond the data are clamped, as numpy has it.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/injective.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "strided_slice";

// Position i of the result is position begin + i * stride of the data.
struct AxisSlice {
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t extent = 0;
};

AxisSlice SliceAxis(int64_t begin, int64_t end, int64_t stride, int64_t extent) {
  const auto clamp = [&](int64_t v) {
    if (v < 0) v = v < -extent ? -1 : v + extent;
    return stride > 0 ? std::clamp<int64_t>(v, 0, extent) : std::clamp<int64_t>(v, -1, extent - 1);
  };
  const int64_t b = clamp(begin);
  const int64_t e = clamp(end);
  const int64_t span = stride > 0 ? e - b : b - e;
  const int64_t step = stride > 0 ? stride : -stride;
  return {b, stride, span <= 0 ? 0 : (span - 1) / step + 1};
}

absl::StatusOr<std::vector<AxisSlice>> Slices(const ir::Attrs& attrs, const Shape& shape) {
  const Shape begin = IntsAttr(attrs, "begin");
  const Shape end = IntsAttr(attrs, "end");
  Shape strides = IntsAttr(attrs, "strides");
  Shape axes = IntsAttr(attrs, "axes");
  if (strides.empty()) strides.assign(begin.size(), 1);
  for (size_t i = 0; i < begin.size() && !attrs.contains("axes"); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  if (end.size() != begin.size() || strides.size() != begin.size() || axes.size() != begin.size()) {
    return AttrError(
        kName, "begin", "as many entries as end, strides and axes have",
        fmt::format("{}, {}, {} and {}", begin.size(), end.size(), strides.size(), axes.size()));
  }
  std::vector<AxisSlice> slices;
  for (const int64_t extent : shape) slices.push_back({0, 1, extent});
  for (size_t i = 0; i < axes.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(kName, axes[i], shape.size()));
    if (strides[i] == 0 || strides[i] == INT64_MIN) {
      return AttrError(kName, "strides", fmt::format("steps other than 0 and {}", INT64_MIN),
                       ShapeText(strides));
    }
    slices[axis] = SliceAxis(begin[i], end[i], strides[i], shape[axis]);
  }
  return slices;
}

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const auto slices, Slices(attrs, data.shape));
  Shape shape;
  for (const AxisSlice& slice : slices) shape.push_back(slice.extent);
  return TensorOf(std::move(shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const std::vector<AxisSlice> slices = *Slices(attrs, args[0]->shape);
  return {builder.Compute(kName, result.tensor.dtype, result.tensor.shape,
                          [&](const std::vector<Expr>& axes) {
                            std::vector<Expr> index;
                            for (size_t i = 0; i < axes.size(); ++i) {
                              index.push_back(axes[i] * loop::IntConst(slices[i].stride) +
                                              loop::IntConst(slices[i].begin));
                            }
                            return loop::Load(args[0], index);
                          })};
}

}  // namespace

void RegisterSlice(std::vector<Op>& table) {
  Op op = InjectiveOp(kName, 1,
                      {{"begin", AttrKind::kInts, true},
                       {"end", AttrKind::kInts, true},
                       {"strides", AttrKind::kInts},
                       {"axes", AttrKind::kInts}});
  op.infer_type = Infer;
  op.define = Define;
  table.push_back(std::move(op));
}

}  // namespace hone::ops
