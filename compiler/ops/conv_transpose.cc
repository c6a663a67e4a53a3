// nn.conv{1,2,3}d_transpose: the transpose of a convolution, data (N, C, ...), weight (C, M /
// groups,
// ...). Written from the result's side: a tap counts where its position lies on the stride.
#include "compiler/ops/conv_transpose.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "compiler/ops/window.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

Shape TapsOf(const Shape& weight) { return Shape(weight.begin() + 2, weight.end()); }

absl::StatusOr<ir::Type> Infer(const std::string& op, int spatial,
                               const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data", spatial + 2));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType weight,
                        TensorOperand(op, args, 1, "weight", spatial + 2));
  const int64_t groups = IntAttr(attrs, "groups", 1);
  if (groups < 1 || data.shape[1] % groups != 0) {
    return AttrError(op, "groups", "a divisor of the channels of " + data.ToString(),
                     fmt::format("{}", groups));
  }
  if (!IsFloat(data.dtype)) return OperandError(op, "data", "floats", data.ToString());
  int64_t channels = 0;
  if (weight.shape[0] != data.shape[1] || weight.dtype != data.dtype || weight.shape[1] == 0 ||
      __builtin_mul_overflow(weight.shape[1], groups, &channels)) {
    return OperandError(op, "weight",
                        fmt::format("{} of {} input channels", Name(data.dtype), data.shape[1]),
                        weight.ToString());
  }
  HONE_ASSIGN_OR_RETURN(const Window window, ReadWindow(op, attrs, TapsOf(weight.shape)));
  const Shape extra = IntsAttr(attrs, "output_padding", Shape(spatial, 0));
  Shape shape = {data.shape[0], channels};
  for (int i = 0; i < spatial; ++i) {
    constexpr int64_t kMost = int64_t{1} << 31;
    if (extra.size() != static_cast<size_t>(spatial) || extra[i] < 0 || extra[i] > kMost) {
      return AttrError(op, "output_padding", fmt::format("{} integers not below 0", spatial),
                       ShapeText(extra));
    }
    int64_t reach = 0;
    if (__builtin_mul_overflow(data.shape[2 + i] - 1, window.strides[i], &reach) || reach > kMost) {
      return OperandError(op, "data", "a result that can be addressed", data.ToString());
    }
    const int64_t extent = reach + window.dilation[i] * (window.taps[i] - 1) + 1 + extra[i] -
                           window.before[i] - window.after[i];
    if (extent < 1) {
      return AttrError(op, "padding", "less than the result has", ShapeText(window.before));
    }
    shape.push_back(extent);
  }
  return TensorOf(std::move(shape), data.dtype);
}

// What a definition needs of a call.
struct Transposed {
  Transposed(const std::string& name, const std::vector<loop::Buffer>& args, const ir::Attrs& attrs,
             const Shape& result)
      : data(args[0]),
        weight(args[1]),
        window(*ReadWindow(name, attrs, TapsOf(args[1]->shape))),
        groups(IntAttr(attrs, "groups", 1)),
        group_in(args[0]->shape[1] / groups),
        group_out(args[1]->shape[1]),
        shape(result),
        dtype(AccumulatorType(args[0]->dtype)) {}

  loop::Buffer data, weight;
  Window window;
  int64_t groups, group_in, group_out;
  Shape shape;  // of the result
  DataType dtype;

  // Where the data and the weight are read, but for their spatial axes.
  std::vector<Expr> DataAt(const std::vector<Expr>& axes, const Expr& channel) const {
    if (groups == 1) return {axes[0], channel};
    return {axes[0],
            FloorDiv(axes[1], loop::IntConst(group_out)) * loop::IntConst(group_in) + channel};
  }
  std::vector<Expr> WeightAt(const std::vector<Expr>& axes, const Expr& channel) const {
    if (groups == 1) return {channel, axes[1]};
    const Expr group = FloorDiv(axes[1], loop::IntConst(group_out));
    return {group * loop::IntConst(group_in) + channel,
            FloorMod(axes[1], loop::IntConst(group_out))};
  }
};

using Term = std::function<Expr(const std::vector<Expr>& axes, const std::vector<Expr>& reduce)>;

// A sum over the channels of a group and `taps`.
std::vector<loop::Buffer> SumOf(const std::string& name, loop::NestBuilder& builder,
                                const Transposed& call, const Shape& taps, const Term& term,
                                DataType result) {
  Shape reduce = {call.group_in};
  reduce.insert(reduce.end(), taps.begin(), taps.end());
  const std::string stage = name.substr(3);
  const loop::Buffer sum =
      builder.Reduce(stage, call.dtype, call.shape, reduce, loop::NestBuilder::Combiner::kAdd,
                     loop::Const(0, call.dtype), term);
  return {CastStage(builder, stage + "_cast", sum, result)};
}

// All taps, each under the condition that its position lies on the stride.
std::vector<loop::Buffer> DefineByConditions(const std::string& name, loop::NestBuilder& builder,
                                             const Transposed& call, DataType result) {
  const Window& window = call.window;
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    std::vector<Expr> at = call.DataAt(axes, r[0]);
    std::vector<Expr> tap = call.WeightAt(axes, r[0]);
    std::vector<Expr> met;
    for (size_t i = 0; i < window.taps.size(); ++i) {
      const Expr stride = loop::IntConst(window.strides[i]);
      const Expr position = axes[2 + i] + loop::IntConst(window.before[i]) -
                            r[1 + i] * loop::IntConst(window.dilation[i]);
      const Expr from = window.strides[i] == 1 ? position : FloorDiv(position, stride);
      met.push_back(InRange(from, 0, call.data->shape[2 + i]));
      if (window.strides[i] != 1) {
        met.push_back(Eq(FloorMod(position, stride), loop::IntConst(0)));
      }
      at.push_back(from);
      tap.push_back(r[1 + i]);
    }
    return loop::Select(AllOf(met), CastTo(call.dtype, loop::Load(call.data, at)),
                        loop::Const(0, call.dtype)) *
           CastTo(call.dtype, loop::Load(call.weight, tap));
  };
  return SumOf(name, builder, call, window.taps, value, result);
}

// Only the taps that meet an element: position o is of phase (o + before) mod stride, and meets the
// taps phase, phase + stride, ..., of the data from (o + before) div stride downwards. Zeros around
// the data and behind the taps take the place of what does not exist.
std::vector<loop::Buffer> DefineByPhases(const std::string& name, loop::NestBuilder& builder,
                                         const Transposed& call, DataType result) {
  const TransposedTaps taps(call.window, call.data->shape, call.shape);
  const auto pad = [&](const loop::Buffer& buffer, const Shape& before, const Shape& after) {
    const auto any = [](const Shape& s) {
      return std::any_of(s.begin(), s.end(), [](int64_t v) { return v != 0; });
    };
    return any(before) || any(after)
               ? PadStage(builder, buffer, before, after, loop::Const(0, buffer->dtype))
               : buffer;
  };
  const loop::Buffer weight = pad(call.weight, Shape(taps.no_taps.size(), 0), taps.no_taps);
  const loop::Buffer data = pad(call.data, taps.before, taps.after);
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    std::vector<Expr> at = call.DataAt(axes, r[0]);
    std::vector<Expr> tap = call.WeightAt(axes, r[0]);
    for (size_t i = 0; i < taps.count.size(); ++i) {
      const int64_t stride = call.window.strides[i];
      const int64_t last = taps.count[i] - 1;
      const Expr position = axes[2 + i] + loop::IntConst(call.window.before[i]);
      const Expr first = loop::IntConst(taps.before[2 + i] - last * taps.step[i]);
      at.push_back(FloorDiv(position, loop::IntConst(stride)) + first +
                   r[1 + i] * loop::IntConst(taps.step[i]));
      tap.push_back(FloorMod(position, loop::IntConst(stride)) +
                    (loop::IntConst(last) - r[1 + i]) * loop::IntConst(stride));
    }
    return CastTo(call.dtype, loop::Load(data, at)) * CastTo(call.dtype, loop::Load(weight, tap));
  };
  return SumOf(name, builder, call, taps.count, value, result);
}

std::vector<loop::Buffer> Define(const std::string& name, loop::NestBuilder& builder,
                                 const std::vector<loop::Buffer>& args, const ir::Attrs& attrs,
                                 const ir::Type& result) {
  const Transposed call(name, args, attrs, result.tensor.shape);
  const DataType dtype = result.tensor.dtype;
  const bool is_strict = IntAttr(attrs, kStrictAttr, 0) != 0;
  if (TransposedTaps::Exist(call.window, is_strict))
    return DefineByPhases(name, builder, call, dtype);
  return DefineByConditions(name, builder, call, dtype);
}

}  // namespace

bool TransposedTaps::Exist(const Window& window, bool is_strict) {
  for (size_t i = 0; i < window.taps.size(); ++i) {
    if (window.strides[i] > 1 && window.dilation[i] > 1) return false;
    if (is_strict && window.taps[i] % window.strides[i] != 0) return false;
  }
  return true;
}

TransposedTaps::TransposedTaps(const Window& window, const Shape& data, const Shape& result)
    : before(2, 0), after(2, 0), no_taps(2, 0) {
  for (size_t i = 0; i < window.taps.size(); ++i) {
    const int64_t stride = window.strides[i];
    count.push_back((window.taps[i] + stride - 1) / stride);
    step.push_back(window.dilation[i]);
    no_taps.push_back(count[i] * stride - window.taps[i]);
    const int64_t reach = (count[i] - 1) * step[i];
    before.push_back(std::max<int64_t>(0, reach - window.before[i] / stride));
    // Every phase of the last positions, the ones beyond the result's end included.
    const int64_t positions = (result[2 + i] + stride - 1) / stride * stride;
    const int64_t last = (positions - 1 + window.before[i]) / stride;
    after.push_back(std::max<int64_t>(0, last - (data[2 + i] - 1)));
  }
}

void RegisterConvTranspose(std::vector<Op>& table) {
  for (int spatial = 1; spatial <= 3; ++spatial) {
    Op op;
    op.name = fmt::format("nn.conv{}d_transpose", spatial);
    op.min_args = op.max_args = 2;
    op.kind = FuseKind::kComplex;
    op.attrs = {{"strides", AttrKind::kInts},
                {"padding", AttrKind::kInts},
                {"dilation", AttrKind::kInts},
                {"output_padding", AttrKind::kInts},
                {"groups", AttrKind::kInt}};
    const std::string name = op.name;
    op.infer_type = [=](const auto& args, const auto& attrs) {
      return Infer(name, spatial, args, attrs);
    };
    op.define = [=](auto& builder, const auto& args, const auto& attrs, const auto& result) {
      return Define(name, builder, args, attrs, result);
    };
    // Each element of the data meets each tap once.
    op.flops = [](const auto& args, const auto&, const auto&) {
      const Shape& weight = args[1].tensor.shape;
      double flops = 2.0 * static_cast<double>(args[0].tensor.ElementCount());
      for (size_t i = 1; i < weight.size(); ++i) flops *= static_cast<double>(weight[i]);
      return flops;
    };
    table.push_back(std::move(op));
  }
}

}  // namespace hone::ops
