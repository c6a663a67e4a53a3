// Normalisations by mean and variance of the data itself (LayerNormalization, GroupNormalization,
// InstanceNormalization, MeanVarianceNormalization), and by a norm (LpNormalization,
// RMSNormalization and its older name SimplifiedLayerNormalization).
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/root_mean_square.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

Shape AxesFrom(int64_t first, int64_t rank) {
  Shape axes;
  for (int64_t i = first; i < rank; ++i) axes.push_back(i);
  return axes;
}

ir::Expr Mean(Formula& f, const ir::Expr& x, const Shape& axes) {
  return f.Call("mean", {x}, {{"axis", axes}, {"keepdims", true}});
}

bool NamesOutput(const NodeReader& node, size_t output) {
  const auto& outputs = node.node().outputs;
  return output < outputs.size() && !outputs[output].empty();
}

// Mean and 1 / standard deviation, as float32 unless stash_type says otherwise.
void AppendStatistics(Formula& f, const ir::Expr& x, const Shape& axes, double epsilon,
                      std::vector<ir::Expr>* results) {
  const ir::Expr wide = f.Wide(x);
  const ir::Expr mean = Mean(f, wide, axes);
  const ir::Expr d = f.Sub(wide, mean);
  const ir::Expr variance = Mean(f, f.Mul(d, d), axes);
  results->push_back(f.Cast(mean, DataType::kFloat32));
  results->push_back(
      f.Cast(f.Call("rsqrt", {f.Add(variance, f.Number(epsilon, wide))}), DataType::kFloat32));
}

// A bfloat16 stash is refused: the statistics are computed in float32 here.
absl::Status ReadStashType(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const int64_t stash, node.Int("stash_type", 1));
  if (stash == 1) return absl::OkStatus();
  return absl::UnimplementedError(
      fmt::format("Hone computes with stash_type 1 (float32), found {}", stash));
}

Results LayerNormalization(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr scale, node.Arg(1, "Scale"));
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.Float("epsilon", 1e-5));
  HONE_RETURN_IF_ERROR(ReadStashType(node));
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", -1));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given, RankOf(x)));
  const Shape axes = AxesFrom(axis, RankOf(x));
  const Shape row(ShapeOf(x).begin() + axis, ShapeOf(x).end());
  const ir::Expr bias = node.Has(2) ? node.args()[2] : nullptr;
  const ir::Attrs attrs = {{"axis", axes}, {"epsilon", epsilon}};

  Formula f;
  std::vector<ir::Expr> results;
  if (ShapeOf(scale) == row && (!bias || ShapeOf(bias) == row)) {
    std::vector<ir::Expr> args = {x, scale};
    if (bias) args.push_back(bias);
    results.push_back(f.Call("nn.layer_norm", args, attrs));
  } else {
    ir::Expr y = f.Mul(f.Call("nn.layer_norm", {f.Wide(x)}, attrs), f.Wide(scale));
    if (bias) y = f.Add(y, f.Wide(bias));
    results.push_back(f.Cast(y, DtypeOf(x)));
  }
  if (NamesOutput(node, 1) || NamesOutput(node, 2)) AppendStatistics(f, x, axes, epsilon, &results);
  return f.Finish(std::move(results));
}

// The second result, 1 / the root of the mean square, is SimplifiedLayerNormalization's alone.
Results RmsNormalization(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr scale, node.Arg(1, "scale"));
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.Float("epsilon", 1e-5));
  HONE_RETURN_IF_ERROR(ReadStashType(node));
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", -1));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given, RankOf(x)));
  Formula f;
  const ir::Expr wide = f.Wide(x);
  const ir::Expr factor = ReciprocalRootMeanSquare(f, wide, AxesFrom(axis, RankOf(x)), epsilon);
  const ir::Expr y = f.Mul(f.Mul(wide, factor), f.Wide(scale));
  return f.Finish({f.Cast(y, DtypeOf(x)), factor});
}

// y * scale + bias in y's type, with a vector of each along `axis`.
ir::Expr Affine(Formula& f, const ir::Expr& y, const ir::Expr& scale, const ir::Expr& bias,
                int64_t axis) {
  if (!y) return y;
  const auto along = [&](const ir::Expr& v) {
    return f.Reshape(f.Wide(v), AlongAxis(v->type->tensor.ElementCount(), axis, RankOf(y)));
  };
  return f.Add(f.Mul(y, along(scale)), along(bias));
}

// The operands X, scale and B, where X has channels and at least one axis behind them.
absl::Status CheckChannels(const ir::Expr& x, const ir::Expr& scale, const ir::Expr& bias,
                           int64_t count) {
  const bool fits =
      RankOf(x) >= 2 && ShapeOf(scale) == Shape{count} && ShapeOf(bias) == Shape{count};
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("scale and bias of {} elements were expected for {}, found {} and {}", count,
                  x->type->ToString(), scale->type->ToString(), bias->type->ToString()));
}

Results InstanceNormalization(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr scale, node.Arg(1, "scale"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr bias, node.Arg(2, "B"));
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.Float("epsilon", 1e-5));
  if (RankOf(x) < 3) {
    return absl::InvalidArgumentError("an input of rank 3 or more was expected, found " +
                                      x->type->ToString());
  }
  HONE_RETURN_IF_ERROR(CheckChannels(x, scale, bias, ShapeOf(x)[1]));
  Formula f;
  const ir::Expr y = f.Call("nn.layer_norm", {f.Wide(x)},
                            {{"axis", AxesFrom(2, RankOf(x))}, {"epsilon", epsilon}});
  return f.Finish({f.Cast(Affine(f, y, scale, bias, 1), DtypeOf(x))});
}

// Scale and bias are for the groups before opset 21, for the channels from then on.
Results GroupNormalization(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr scale, node.Arg(1, "scale"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr bias, node.Arg(2, "bias"));
  HONE_ASSIGN_OR_RETURN(const double epsilon, node.Float("epsilon", 1e-5));
  HONE_RETURN_IF_ERROR(ReadStashType(node));
  HONE_ASSIGN_OR_RETURN(const int64_t groups, node.Int("num_groups", 0));
  if (RankOf(x) < 2 || groups < 1 || ShapeOf(x)[1] % groups != 0) {
    return absl::InvalidArgumentError(
        fmt::format("channels divisible by num_groups={} were expected, found {}", groups,
                    x->type->ToString()));
  }
  const bool by_group = node.opset() < 21;
  const int64_t channels = ShapeOf(x)[1];
  HONE_RETURN_IF_ERROR(CheckChannels(x, scale, bias, by_group ? groups : channels));
  Shape grouped = {ShapeOf(x)[0], groups, channels / groups};
  for (int64_t i = 2; i < RankOf(x); ++i) grouped[2] *= ShapeOf(x)[i];
  Formula f;
  ir::Expr y = f.Call("nn.layer_norm", {f.Reshape(f.Wide(x), grouped)},
                      {{"axis", Shape{2}}, {"epsilon", epsilon}});
  if (by_group) y = Affine(f, y, scale, bias, 1);
  y = f.Reshape(y, ShapeOf(x));
  if (!by_group) y = Affine(f, y, scale, bias, 1);
  return f.Finish({f.Cast(y, DtypeOf(x))});
}

// The deviation is kept from zero by 1e-9 behind the root, as ONNX's function has it.
Results MeanVarianceNormalization(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const Shape axes, node.Ints("axes", {0, 2, 3}));
  Formula f;
  const ir::Expr x = f.Wide(data);
  const ir::Expr d = axes.empty() ? x : f.Sub(x, Mean(f, x, axes));
  const ir::Expr deviation = f.Call("sqrt", {Mean(f, f.Mul(d, d), axes)});
  return f.Finish({f.Cast(f.Div(d, f.Add(deviation, f.Number(1e-9, x))), DtypeOf(data))});
}

// Where the norm is 0 so is the result.
Results LpNormalization(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", -1));
  HONE_ASSIGN_OR_RETURN(const int64_t p, node.Int("p", 2));
  if (p != 1 && p != 2) {
    return absl::InvalidArgumentError(fmt::format("p: 1 or 2 was expected, found {}", p));
  }
  Formula f;
  const ir::Expr x = f.Wide(data);
  const ir::Attrs reduce = {{"axis", Shape{axis}}, {"keepdims", true}};
  const ir::Expr terms = p == 1 ? f.Call("abs", {x}) : f.Mul(x, x);
  ir::Expr norm = f.Call("sum", {terms}, reduce);
  if (p == 2) norm = f.Call("sqrt", {norm});
  norm = f.Where(f.Call("equal", {norm, f.Number(0, x)}), f.Number(1, x), norm);
  return f.Finish({f.Cast(f.Div(x, norm), DtypeOf(data))});
}

}  // namespace

ir::Expr ReciprocalRootMeanSquare(Formula& f, const ir::Expr& x, const Shape& axes,
                                  double epsilon) {
  const ir::Expr mean = f.Call("mean", {f.Mul(x, x)}, {{"axis", axes}, {"keepdims", true}});
  return f.Call("rsqrt", {f.Add(mean, f.Number(epsilon, x))});
}

void AddRowNormalizationConverters(ConverterTable& table) {
  table["RMSNormalization"] = RmsNormalization;
  table["SimplifiedLayerNormalization"] = RmsNormalization;
  table["GroupNormalization"] = GroupNormalization;
  table["InstanceNormalization"] = InstanceNormalization;
  table["LayerNormalization"] = LayerNormalization;
  table["LpNormalization"] = LpNormalization;
  table["MeanVarianceNormalization"] = MeanVarianceNormalization;
}

}  // namespace hone::frontend
