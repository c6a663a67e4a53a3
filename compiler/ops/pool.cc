// nn.max_pool{1,2,3}d, nn.avg_pool{1,2,3}d and their global forms, over the spatial axes of N, C,
// ... Padding is part of the stage's value, not a stage: padded taps count as the lowest value in a
// max, as zero in a sum.
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
using Combiner = loop::NestBuilder::Combiner;

// One of the operators of this file.
struct Pool {
  std::string name;
  int spatial = 2;
  bool average = false;
  bool global = false;
};

absl::StatusOr<Window> WindowOf(const Pool& pool, const ir::Attrs& attrs, const Shape& data) {
  if (pool.global) {
    return ReadWindow(pool.name, {}, Shape(data.begin() + 2, data.end()));
  }
  Shape taps = IntsAttr(attrs, "pool_size");
  if (taps.size() == 1) taps.assign(pool.spatial, taps[0]);
  if (taps.size() != static_cast<size_t>(pool.spatial)) {
    return AttrError(pool.name, "pool_size", fmt::format("{} integers", pool.spatial),
                     ShapeText(taps));
  }
  return ReadWindow(pool.name, attrs, taps);
}

absl::StatusOr<ir::Type> Infer(const Pool& pool, const std::vector<ir::Type>& args,
                               const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data,
                        TensorOperand(pool.name, args, 0, "data", pool.spatial + 2));
  if (data.dtype == DataType::kBool) {
    return OperandError(pool.name, "data", "numbers", data.ToString());
  }
  HONE_ASSIGN_OR_RETURN(const Window window, WindowOf(pool, attrs, data.shape));
  Shape shape = {data.shape[0], data.shape[1]};
  HONE_RETURN_IF_ERROR(AppendWindowOutput(pool.name, window, data, &shape));
  return TensorOf(std::move(shape), data.dtype);
}

// The first tap of the window at position `at`, in coordinates of the input.
Expr WindowStart(const Window& window, size_t i, const Expr& at) {
  return at * loop::IntConst(window.strides[i]) - loop::IntConst(window.before[i]);
}

// True where a window at some position reaches beyond the input.
bool LeavesInput(const Window& window, size_t i, int64_t extent, int64_t positions) {
  const int64_t last = (positions - 1) * window.strides[i] - window.before[i] +
                       (window.taps[i] - 1) * window.dilation[i];
  return window.before[i] > 0 || last >= extent;
}

loop::Buffer CombineTaps(const Pool& pool, loop::NestBuilder& builder, const loop::Buffer& data,
                         const Window& window, DataType dtype, const Shape& shape) {
  const Expr outside = pool.average ? loop::Const(0, dtype) : LowestOf(dtype);
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    std::vector<Expr> index = {axes[0], axes[1]};
    std::vector<Expr> inside;
    for (size_t i = 0; i < r.size(); ++i) {
      const Expr at =
          WindowStart(window, i, axes[2 + i]) + r[i] * loop::IntConst(window.dilation[i]);
      const int64_t extent = data->shape[2 + i];
      if (LeavesInput(window, i, extent, shape[2 + i])) inside.push_back(InRange(at, 0, extent));
      index.push_back(at);
    }
    return loop::Select(AllOf(inside), CastTo(dtype, loop::Load(data, index)), outside);
  };
  return builder.Reduce(pool.average ? "pool_sum" : pool.name.substr(3), dtype, shape, window.taps,
                        pool.average ? Combiner::kAdd : Combiner::kMax, outside, value);
}

// How many taps of the window at `at` lie in [low, high).
Expr TapsWithin(const Window& window, size_t i, const Expr& at, int64_t low, int64_t high) {
  const Expr start = WindowStart(window, i, at);
  const Expr step = loop::IntConst(window.dilation[i]);
  const Expr first =
      Max(FloorDiv(loop::IntConst(low + window.dilation[i] - 1) - start, step), loop::IntConst(0));
  const Expr last =
      Min(FloorDiv(loop::IntConst(high - 1) - start, step), loop::IntConst(window.taps[i] - 1));
  return last - first + loop::IntConst(1);
}

// Taps that count towards the average: those in the input, or also those in its padding.
Expr Divisor(const Window& window, const std::vector<Expr>& axes, const Shape& data,
             const Shape& result, bool count_padding) {
  Expr divisor = loop::IntConst(1);
  for (size_t i = 0; i < window.taps.size(); ++i) {
    const int64_t low = count_padding ? -window.before[i] : 0;
    const int64_t high = data[2 + i] + (count_padding ? window.after[i] : 0);
    const int64_t last = (result[2 + i] - 1) * window.strides[i] - window.before[i] +
                         (window.taps[i] - 1) * window.dilation[i];
    const bool whole = last < high && low <= -window.before[i];
    divisor = divisor * (whole ? loop::IntConst(window.taps[i])
                               : TapsWithin(window, i, axes[2 + i], low, high));
  }
  return Max(divisor, loop::IntConst(1));
}

std::vector<loop::Buffer> Define(const Pool& pool, loop::NestBuilder& builder,
                                 const loop::Buffer& data, const ir::Attrs& attrs,
                                 const ir::Type& result) {
  const Window window = *WindowOf(pool, attrs, data->shape);
  const Shape& shape = result.tensor.shape;
  const DataType dtype = result.tensor.dtype;
  if (!pool.average) return {CombineTaps(pool, builder, data, window, dtype, shape)};

  const DataType accumulator = AccumulatorType(dtype);
  const loop::Buffer sum = CombineTaps(pool, builder, data, window, accumulator, shape);
  const bool count_padding = BoolAttr(attrs, "count_include_pad", false);
  return {builder.Compute(pool.name.substr(3), dtype, shape, [&](const std::vector<Expr>& axes) {
    const Expr divisor = Divisor(window, axes, data->shape, shape, count_padding);
    return CastTo(dtype, Divide(loop::Load(sum, axes), CastTo(accumulator, divisor)));
  })};
}

double Flops(const Pool& pool, const std::vector<ir::Type>& args, const ir::Attrs& attrs,
             const ir::Type& result) {
  const Window window = *WindowOf(pool, attrs, args[0].tensor.shape);
  return static_cast<double>(result.tensor.ElementCount()) *
         static_cast<double>(Product(window.taps) + (pool.average ? 1 : 0));
}

Op MakePool(const Pool& pool) {
  Op op;
  op.name = pool.name;
  op.kind = FuseKind::kComplex;
  op.attrs = {{"layout", AttrKind::kString}};
  if (!pool.global) {
    op.attrs.insert(op.attrs.end(), {{"pool_size", AttrKind::kInts, true},
                                     {"strides", AttrKind::kInts},
                                     {"padding", AttrKind::kInts},
                                     {"dilation", AttrKind::kInts},
                                     {"ceil_mode", AttrKind::kBool}});
    if (pool.average) op.attrs.push_back({"count_include_pad", AttrKind::kBool});
  }
  op.infer_type = [pool](const auto& args, const auto& attrs) { return Infer(pool, args, attrs); };
  op.define = [pool](auto& builder, const auto& args, const auto& attrs, const auto& result) {
    return Define(pool, builder, args[0], attrs, result);
  };
  op.flops = [pool](const auto& args, const auto& attrs, const auto& result) {
    return Flops(pool, args, attrs, result);
  };
  return op;
}

}  // namespace

void RegisterPool(std::vector<Op>& table) {
  for (int n = 1; n <= 3; ++n) {
    table.push_back(MakePool({fmt::format("nn.max_pool{}d", n), n, false, false}));
    table.push_back(MakePool({fmt::format("nn.avg_pool{}d", n), n, true, false}));
    table.push_back(MakePool({fmt::format("nn.global_max_pool{}d", n), n, false, true}));
    table.push_back(MakePool({fmt::format("nn.global_avg_pool{}d", n), n, true, true}));
  }
}

}  // namespace hone::ops
