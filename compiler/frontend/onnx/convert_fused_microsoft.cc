// What onnxruntime's optimiser makes of a product or a convolution and its neighbours, in the
// domain com.microsoft: FusedConv, FusedGemm, FusedMatMul and its older name TransposeMatMul.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "compiler/frontend/onnx/convert_as.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/matrix_product.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The opset whose Conv and Gemm have the attributes and operands of the fused operators.
constexpr int kFusedOpset = 13;
// The opset in which every activation has its parameters as attributes, Clip too.
constexpr int kActivationOpset = 6;

// An activation that the optimiser fuses, and its parameters in the order of activation_params.
struct FusedActivation {
  const char* name;
  std::vector<std::string> params;
};

absl::StatusOr<FusedActivation> FindFused(const std::vector<FusedActivation>& known,
                                          const std::string& name) {
  std::vector<std::string> names;
  for (const FusedActivation& fused : known) {
    if (name == fused.name) return fused;
    names.emplace_back(fused.name);
  }
  return absl::UnimplementedError(fmt::format(
      "the activation was expected to be one of {}; found {}", fmt::join(names, ", "), name));
}

absl::StatusOr<ir::Expr> Activate(const NodeReader& node, const std::string& name,
                                  std::map<std::string, OnnxAttr> attrs, const ir::Expr& x) {
  OnnxNode inner;
  inner.name = node.node().name;
  inner.op = name;
  inner.outputs.resize(1);
  inner.attrs = std::move(attrs);
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Expr> results,
                        ConvertInner(node, inner, kActivationOpset, {x}));
  return results[0];
}

// A convolution, plus Z where it is given, through an activation.
Results FusedConv(NodeReader& node) {
  static const auto* const known =
      new std::vector<FusedActivation>{{"Relu", {}},
                                       {"Tanh", {}},
                                       {"Sigmoid", {}},
                                       {"LeakyRelu", {"alpha"}},
                                       {"Clip", {"min", "max"}},
                                       {"HardSigmoid", {"alpha", "beta"}}};
  HONE_ASSIGN_OR_RETURN(const std::string activation, node.String("activation", ""));
  HONE_ASSIGN_OR_RETURN(const std::vector<float> params, node.Floats("activation_params"));
  std::vector<ir::Expr> args = node.args();
  if (args.size() > 3) args.resize(3);
  HONE_ASSIGN_OR_RETURN(ir::Expr y, ConvertAs(node, "Conv", kFusedOpset, std::move(args),
                                              {"activation", "activation_params"}));
  if (node.Has(3)) {
    HONE_ASSIGN_OR_RETURN(y, Emit("add", {y, node.args()[3]}));
  }
  if (activation.empty()) return std::vector<ir::Expr>{y};
  HONE_ASSIGN_OR_RETURN(const FusedActivation fused, FindFused(*known, activation));
  if (params.size() != fused.params.size()) {
    return absl::InvalidArgumentError(
        fmt::format("{} has {} parameters, but activation_params has {}", activation,
                    fused.params.size(), params.size()));
  }
  std::map<std::string, OnnxAttr> attrs;
  for (size_t i = 0; i < params.size(); ++i) attrs[fused.params[i]] = params[i];
  return One(Activate(node, activation, std::move(attrs), y));
}

Results FusedGemm(NodeReader& node) {
  static const auto* const known =
      new std::vector<FusedActivation>{{"Relu", {}},
                                       {"Tanh", {}},
                                       {"Sigmoid", {}},
                                       {"Softplus", {}},
                                       {"Softsign", {}},
                                       {"LeakyRelu", {"alpha"}},
                                       {"Elu", {"alpha"}},
                                       {"ThresholdedRelu", {"alpha"}},
                                       {"Selu", {"alpha", "gamma"}},
                                       {"HardSigmoid", {"alpha", "beta"}}};
  HONE_ASSIGN_OR_RETURN(const std::string activation, node.String("activation", ""));
  std::vector<std::string> own = {"activation"};
  std::map<std::string, OnnxAttr> attrs;
  for (const std::string name : {"alpha", "beta", "gamma"}) {
    own.push_back("activation_" + name);
    if (const OnnxAttr* const value = node.Raw(own.back())) attrs[name] = *value;
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, ConvertAs(node, "Gemm", kFusedOpset, node.args(), own));
  if (activation.empty()) return std::vector<ir::Expr>{y};
  HONE_ASSIGN_OR_RETURN(const FusedActivation fused, FindFused(*known, activation));
  return One(Activate(node, fused.name, std::move(attrs), y));
}

// The first axis moved behind the batch axes, then the last two swapped. A vector stays as it is.
ir::Expr Turned(Formula& f, const ir::Expr& e, bool moves_first, bool swaps_last) {
  Shape axes(RankOf(e));
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() < 2) return e;
  if (moves_first) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
  if (swaps_last) std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return f.Transpose(e, axes);
}

Results FusedMatMul(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr a, node.Arg(0, "A"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr b, node.Arg(1, "B"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t swap_a, node.Int("transA", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t swap_b, node.Int("transB", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t batch_a, node.Int("transBatchA", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t batch_b, node.Int("transBatchB", 0));
  Formula f;
  const ir::Expr left = Turned(f, a, batch_a != 0, swap_a != 0);
  const ir::Expr right = Turned(f, b, batch_b != 0, swap_b != 0);
  HONE_RETURN_IF_ERROR(f.status());
  HONE_ASSIGN_OR_RETURN(const ir::Expr product, MatrixProduct(left, right));
  return f.Finish({alpha == 1 ? product : f.Mul(product, f.Number(alpha, product))});
}

}  // namespace

void AddMicrosoftFusedConverters(ConverterTable& table) {
  table["com.microsoft.FusedConv"] = FusedConv;
  table["com.microsoft.FusedGemm"] = FusedGemm;
  table["com.microsoft.FusedMatMul"] = FusedMatMul;
  table["com.microsoft.TransposeMatMul"] = FusedMatMul;
}

}  // namespace hone::frontend
