// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, which validation graphs end in.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The loss of log-probabilities (N, C, d...) for classes (N, d...); operand 2 has a weight a class.
absl::StatusOr<ir::Expr> Loss(NodeReader& node, const ir::Expr& log_probabilities) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr classes, node.Arg(1, "target"));
  HONE_ASSIGN_OR_RETURN(const std::string reduction, node.String("reduction", "mean"));
  const bool ignores = node.HasAttr("ignore_index");
  HONE_ASSIGN_OR_RETURN(const int64_t ignored, node.Int("ignore_index", 0));
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    return absl::InvalidArgumentError(
        fmt::format("a reduction of none, sum or mean was expected, found {}", reduction));
  }
  Formula f;
  ir::Expr index = classes;
  ir::Expr weights = f.Number(1, log_probabilities);
  const ir::Expr skip =
      ignores ? f.Call("equal", {classes, IntegerConstant(ignored, DtypeOf(classes))}) : nullptr;
  if (ignores) index = f.Where(skip, f.Number(0, classes), classes);
  if (node.Has(2)) weights = f.Call("take", {node.args()[2], index}, {{"axis", int64_t{0}}});
  if (ignores) weights = f.Where(skip, f.Number(0, log_probabilities), weights);
  if (!node.Has(2) && !ignores) {
    const DataType dtype = DtypeOf(log_probabilities);
    HONE_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(ShapeOf(classes), dtype));
    HONE_RETURN_IF_ERROR(node.Generate(bytes));
    weights = ScalarConstant(1, dtype, ShapeOf(classes));
  }
  const ir::Expr column = f.Call("expand_dims", {index}, {{"axis", int64_t{1}}});
  const ir::Expr picked =
      f.Reshape(f.Call("gather_elements", {log_probabilities, column}, {{"axis", int64_t{1}}}),
                ShapeOf(classes));
  const ir::Expr loss = f.Mul(f.Call("negative", {picked}), weights);
  if (reduction == "none") return f.FinishOne(loss);
  const ir::Expr sum = f.Call("sum", {loss});
  return f.FinishOne(reduction == "sum" ? sum : f.Div(sum, f.Call("sum", {weights})));
}

Results NegativeLogLikelihoodLoss(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr input, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(ir::Expr loss, Loss(node, input));
  return std::vector<ir::Expr>{std::move(loss)};
}

Results SoftmaxCrossEntropyLoss(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr scores, node.Arg(0, "scores"));
  Formula f;
  HONE_ASSIGN_OR_RETURN(ir::Expr log_probabilities,
                        f.FinishOne(f.Call("nn.log_softmax", {scores}, {{"axis", int64_t{1}}})));
  HONE_ASSIGN_OR_RETURN(ir::Expr loss, Loss(node, log_probabilities));
  return std::vector<ir::Expr>{std::move(loss), std::move(log_probabilities)};
}

}  // namespace

void AddLossConverters(ConverterTable& table) {
  table["NegativeLogLikelihoodLoss"] = NegativeLogLikelihoodLoss;
  table["SoftmaxCrossEntropyLoss"] = SoftmaxCrossEntropyLoss;
}

}  // namespace hone::frontend
