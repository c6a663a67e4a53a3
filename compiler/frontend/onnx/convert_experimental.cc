// Operators that were experimental in opsets 1 to 9 and are in files of their time: Affine, Crop,
// ImageScaler, ParametricSoftplus, Scale, ScaledTanh.
#include <fmt/format.h>

#include <cstring>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// alpha * x + beta.
Results Affine(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 1));
  HONE_ASSIGN_OR_RETURN(const double beta, node.Float("beta", 0));
  Formula f;
  return f.Finish({f.Add(f.Mul(x, f.Number(alpha, x)), f.Number(beta, x))});
}

Results Scale(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const double scale, node.Float("scale", 1));
  Formula f;
  return f.Finish({f.Mul(x, f.Number(scale, x))});
}

// alpha * tanh(beta * x).
Results ScaledTanh(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 1));
  HONE_ASSIGN_OR_RETURN(const double beta, node.Float("beta", 1));
  Formula f;
  return f.Finish({f.Mul(f.Call("tanh", {f.Mul(x, f.Number(beta, x))}), f.Number(alpha, x))});
}

// alpha * log(1 + e^(beta * x)).
Results ParametricSoftplus(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 1));
  HONE_ASSIGN_OR_RETURN(const double beta, node.Float("beta", 1));
  Formula f;
  const ir::Expr scaled = f.Mul(x, f.Number(beta, x));
  HONE_RETURN_IF_ERROR(f.status());
  const OnnxNode softplus;
  NodeReader inner = node.WithOperands(softplus, node.opset(), {scaled});
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Expr> result, Converters().at("Softplus")(inner));
  return f.Finish({f.Mul(result[0], f.Number(alpha, x))});
}

absl::Status CheckImages(const ir::Expr& x) {
  if (RankOf(x) == 4) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("images (N, C, H, W) were expected, found {}", x->type->ToString()));
}

// One number a channel is added to the scaled image.
Results ImageScaler(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "input"));
  HONE_RETURN_IF_ERROR(CheckImages(x));
  HONE_ASSIGN_OR_RETURN(const double scale, node.Float("scale", 1));
  const int64_t channels = ShapeOf(x)[1];
  Formula f;
  const ir::Expr scaled = f.Mul(x, f.Number(scale, x));
  const OnnxAttr* const raw = node.Raw("bias");
  if (raw == nullptr) return f.Finish({scaled});
  const auto* const bias = std::get_if<std::vector<float>>(raw);
  if (bias == nullptr || static_cast<int64_t>(bias->size()) != channels) {
    return absl::InvalidArgumentError(
        fmt::format("bias: {} floats were expected, one a channel", channels));
  }
  const ir::Expr vector =
      ir::ConstantFromBytes({AlongAxis(channels, 1, RankOf(x)), DataType::kFloat32}, bias->data());
  return f.Finish({f.Add(scaled, f.Cast(vector, DtypeOf(x)))});
}

// Cuts `border` (left, top, right, bottom) off, or where `scale` has a height and a width keeps as
// much from the left top corner of the border on.
Results Crop(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "input"));
  HONE_RETURN_IF_ERROR(CheckImages(x));
  HONE_ASSIGN_OR_RETURN(const Shape border, node.Ints("border"));
  HONE_ASSIGN_OR_RETURN(const Shape scale, node.Ints("scale"));
  if (border.size() != 4 || (!scale.empty() && scale.size() != 2)) {
    return absl::InvalidArgumentError(
        fmt::format("a border of 4 numbers and a scale of 2 or none were expected, found {} and {}",
                    border.size(), scale.size()));
  }
  ir::Expr result = x;
  for (const int64_t axis : {2, 3}) {
    const int64_t extent = ShapeOf(x)[axis];
    const int64_t begin = border[axis == 2 ? 1 : 0];
    const int64_t cut = border[axis == 2 ? 3 : 2];
    const int64_t kept = scale.empty() ? 0 : scale[axis - 2];
    if (begin < 0 || begin > extent || cut < 0 || cut > extent - begin || kept < 0 ||
        kept > extent - begin) {
      return absl::InvalidArgumentError(
          fmt::format("a border within {} was expected", x->type->ToString()));
    }
    const int64_t end = scale.empty() ? extent - cut : begin + kept;
    HONE_ASSIGN_OR_RETURN(result, SliceOf(result, axis, begin, end));
  }
  return std::vector<ir::Expr>{result};
}

}  // namespace

void AddExperimentalConverters(ConverterTable& table) {
  table["Affine"] = Affine;
  table["Crop"] = Crop;
  table["ImageScaler"] = ImageScaler;
  table["ParametricSoftplus"] = ParametricSoftplus;
  table["Scale"] = Scale;
  table["ScaledTanh"] = ScaledTanh;
}

}  // namespace hone::frontend
