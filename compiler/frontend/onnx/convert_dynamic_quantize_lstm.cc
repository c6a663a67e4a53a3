// DynamicQuantizeLSTM of the domain com.microsoft, which onnxruntime's quantiser writes: an LSTM
// with weights of bytes.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/integer_product.h"
#include "compiler/frontend/onnx/recurrent.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// Operand `i` as ONNX's LSTM has it, (directions, 4 hidden, terms), of bytes (directions, terms, 4
// hidden); operands `scale` and `scale + 1` have a number a direction, or one for each gate's
// element too.
absl::StatusOr<ir::Expr> Weights(const NodeReader& node, size_t i, size_t scale) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr bytes, node.Arg(i, i == 1 ? "W" : "R"));
  std::vector<ir::Expr> args = {bytes};
  Formula f;
  for (const size_t p : {scale, scale + 1}) {
    HONE_ASSIGN_OR_RETURN(const ir::Expr param, node.Arg(p, "scale or zero point"));
    const int64_t directions = RankOf(bytes) == 3 ? ShapeOf(bytes)[0] : 0;
    const int64_t count = param->type->tensor.ElementCount();
    if (directions == 0 || (count != directions && count != directions * ShapeOf(bytes)[2])) {
      return absl::InvalidArgumentError(fmt::format(
          "a scale and a zero point for each direction of (directions, terms, 4 hidden) "
          "were expected, found {} for {}",
          param->type->ToString(), bytes->type->ToString()));
    }
    args.push_back(f.Reshape(param, {directions, 1, count / directions}));
  }
  return f.FinishOne(f.Transpose(f.Call("qnn.dequantize", std::move(args)), {0, 2, 1}));
}

Results DynamicQuantizeLstm(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const QuantizedOperand bytes, QuantizeDynamically(node, x));
  std::vector<ir::Expr> args(node.args().begin(), node.args().begin() + 8);
  Formula f;
  args[0] = f.Call("qnn.dequantize", {bytes.data, bytes.scale, bytes.zero_point});
  HONE_RETURN_IF_ERROR(f.status());
  HONE_ASSIGN_OR_RETURN(args[1], Weights(node, 1, 8));
  HONE_ASSIGN_OR_RETURN(args[2], Weights(node, 2, 10));
  NodeReader lstm = node.WithOperands(node.node(), node.opset(), std::move(args));
  HONE_ASSIGN_OR_RETURN(std::vector<ir::Expr> results, ConvertLstmOfBytes(lstm));
  HONE_RETURN_IF_ERROR(lstm.CheckAllRead());
  for (const auto& [name, value] : node.node().attrs) node.Raw(name);
  return results;
}

}  // namespace

void AddDynamicQuantizeLstmConverters(ConverterTable& table) {
  table["com.microsoft.DynamicQuantizeLSTM"] = [](NodeReader& node) -> Results {
    constexpr size_t kOperands = 12;
    if (node.size() == kOperands) return DynamicQuantizeLstm(node);
    return absl::InvalidArgumentError(
        fmt::format("{} operands were expected, found {}", kOperands, node.size()));
  };
}

}  // namespace hone::frontend
