// nn.grid_sample: data (N, C, spatial...) read between its elements at normalised coordinates, grid
// (N, out..., coordinates with the innermost axis first). method nearest, linear or cubic (per
// axis); padding_mode zeros, border or reflection; align_corners: -1 and 1 are the centres of the
// outermost elements, not their edges.
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

constexpr char kName[] = "nn.grid_sample";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  const size_t rank = data.shape.size();
  if (rank < 3 || rank > 5 || !IsFloat(data.dtype) || Product(data.shape) == 0) {
    return OperandError(kName, "data", "floats of rank 3 to 5, not empty", data.ToString());
  }
  HONE_ASSIGN_OR_RETURN(const ir::TensorType grid,
                        TensorOperand(kName, args, 1, "grid", static_cast<int>(rank)));
  if (!IsFloat(grid.dtype) || grid.shape[0] != data.shape[0] ||
      grid.shape.back() != static_cast<int64_t>(rank) - 2) {
    return OperandError(
        kName, "grid",
        fmt::format("{} coordinates a position of {} images", rank - 2, data.shape[0]),
        grid.ToString());
  }
  const std::string method = StringAttr(attrs, "method", "linear");
  if (method != "nearest" && method != "linear" && method != "cubic") {
    return AttrError(kName, "method", "nearest, linear or cubic", method);
  }
  const std::string padding = StringAttr(attrs, "padding_mode", "zeros");
  if (padding != "zeros" && padding != "border" && padding != "reflection") {
    return AttrError(kName, "padding_mode", "zeros, border or reflection", padding);
  }
  Shape shape = {data.shape[0], data.shape[1]};
  shape.insert(shape.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
  return TensorOf(std::move(shape), data.dtype);
}

// Sampling along one axis of the data.
struct Sampler {
  int64_t extent;
  bool align_corners;
  std::string padding;
  DataType dtype;  // of coordinates

  Expr Number(double value) const { return loop::FloatConst(value, dtype); }

  // Mirrored at the borders until it lies within them.
  Expr Reflect(const Expr& x) const {
    const double low = align_corners ? 0 : -0.5;
    const double span = static_cast<double>(align_corners ? extent - 1 : extent);
    if (span == 0) return Number(low);
    // Twice the span is a period; its second half runs backwards.
    const Expr from = loop::Unary(UnaryOp::kAbs, x - Number(low));
    const Expr periods = loop::Unary(UnaryOp::kFloor, Divide(from, Number(2 * span)));
    const Expr within = from - periods * Number(2 * span);
    return Number(low) + Min(within, Number(2 * span) - within);
  }

  // A normalised coordinate as a position in the data; always within +-1e9.
  Expr Position(const Expr& normal) const {
    const Expr from_edge = normal + Number(1);
    Expr x = align_corners
                 ? Divide(from_edge, Number(2)) * Number(static_cast<double>(extent - 1))
                 : Divide(from_edge * Number(static_cast<double>(extent)) - Number(1), Number(2));
    return Min(Max(x, Number(-1e9)), Number(1e9));
  }

  // Cubic interpolation keeps the position: there each element is looked for within the borders.
  Expr Padded(const Expr& x, bool cubic = false) const {
    if (padding == "border" && !cubic) {
      return Min(Max(x, Number(0)), Number(static_cast<double>(extent - 1)));
    }
    return padding == "reflection" ? Reflect(x) : x;
  }

  // The index of an element, which may lie outside unless zeros are what is there.
  Expr Element(const Expr& at) const {
    if (padding != "reflection") return at;
    return CastTo(DataType::kInt64, Reflect(CastTo(dtype, at)));
  }

  Expr Clamped(const Expr& at) const {
    return Min(Max(at, loop::IntConst(0)), loop::IntConst(extent - 1));
  }
};

Expr Weight(const std::string& method, const Expr& distance) {
  const DataType dtype = distance->dtype;
  const auto number = [&](double value) { return loop::FloatConst(value, dtype); };
  const Expr d = loop::Unary(UnaryOp::kAbs, distance);
  if (method == "linear") return number(1) - d;
  constexpr double kA = -0.75;
  const Expr near = (number(kA + 2) * d - number(kA + 3)) * d * d + number(1);
  const Expr far = ((d - number(5)) * d + number(8)) * d * number(kA) - number(4 * kA);
  return loop::Select(Le(d, number(1)), near, far);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const size_t spatial = data->shape.size() - 2;
  const std::string method = StringAttr(attrs, "method", "linear");
  const DataType dtype = AccumulatorType(data->dtype);
  const bool zeros = StringAttr(attrs, "padding_mode", "zeros") == "zeros";
  std::vector<Sampler> samplers;
  for (size_t i = 0; i < spatial; ++i) {
    samplers.push_back({data->shape[2 + i], BoolAttr(attrs, "align_corners", false),
                        StringAttr(attrs, "padding_mode", "zeros"),
                        AccumulatorType(args[1]->dtype)});
  }
  const auto position = [&](const std::vector<Expr>& axes, size_t i) {
    std::vector<Expr> at = {axes[0]};
    at.insert(at.end(), axes.begin() + 2, axes.end());
    at.push_back(loop::IntConst(static_cast<int64_t>(spatial - 1 - i)));
    return samplers[i].Position(CastTo(samplers[i].dtype, loop::Load(args[1], at)));
  };
  const auto element = [&](const std::vector<Expr>& axes, const std::vector<Expr>& at) {
    std::vector<Expr> index = {axes[0], axes[1]};
    std::vector<Expr> inside;
    for (size_t i = 0; i < spatial; ++i) {
      const Expr where = samplers[i].Element(at[i]);
      if (zeros) inside.push_back(InRange(where, 0, data->shape[2 + i]));
      index.push_back(samplers[i].Clamped(where));
    }
    return loop::Select(AllOf(inside), CastTo(dtype, loop::Load(data, index)),
                        loop::Const(0, dtype));
  };

  if (method == "nearest") {
    return {builder.Compute("grid_sample", data->dtype, result.tensor.shape,
                            [&](const std::vector<Expr>& axes) {
                              std::vector<Expr> at;
                              for (size_t i = 0; i < spatial; ++i) {
                                const Expr x = loop::Unary(UnaryOp::kRound, position(axes, i));
                                at.push_back(CastTo(DataType::kInt64, samplers[i].Padded(x)));
                              }
                              return CastTo(data->dtype, element(axes, at));
                            })};
  }
  const int64_t taps = method == "linear" ? 2 : 4;
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& tap) {
    std::vector<Expr> at;
    Expr weight = loop::Const(1, dtype);
    for (size_t i = 0; i < spatial; ++i) {
      const Expr x = samplers[i].Padded(position(axes, i), taps == 4);
      const Expr below = loop::Unary(UnaryOp::kFloor, x);
      const Expr offset = tap[i] - loop::IntConst(taps / 2 - 1);
      at.push_back(CastTo(DataType::kInt64, below) + offset);
      weight = weight * CastTo(dtype, Weight(method, (x - below) - CastTo(x->dtype, offset)));
    }
    return element(axes, at) * weight;
  };
  const loop::Buffer sum =
      builder.Reduce("grid_sample", dtype, result.tensor.shape, std::vector<int64_t>(spatial, taps),
                     loop::NestBuilder::Combiner::kAdd, loop::Const(0, dtype), value);
  return {CastStage(builder, "grid_sample_cast", sum, data->dtype)};
}

}  // namespace

void RegisterGridSample(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.min_args = op.max_args = 2;
  op.kind = FuseKind::kComplex;
  op.attrs = {{"method", AttrKind::kString},
              {"padding_mode", AttrKind::kString},
              {"align_corners", AttrKind::kBool}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto& args, const auto& attrs, const auto& result) {
    const double per_axis = StringAttr(attrs, "method", "linear") == "cubic" ? 4 : 2;
    double taps = 1;
    for (size_t i = 2; i < args[0].tensor.shape.size(); ++i) taps *= per_axis;
    return 2.0 * taps * static_cast<double>(result.tensor.ElementCount());
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
