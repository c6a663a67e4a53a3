// The quantised operators of the domain com.microsoft that onnxruntime's quantiser writes beside
// QLinearConv and QLinearMatMul: an operator of ONNX on real numbers between DequantizeLinear and
// QuantizeLinear. Zero points may be left out.
#include <fmt/format.h>

#include "compiler/frontend/onnx/channels_last.h"
#include "compiler/frontend/onnx/convert_as.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The newest opset that every operator used here has kept its meaning in.
constexpr int kQuantizedOpset = 13;

// Operands i, i + 1 and i + 2: a tensor, its scale and zero point.
absl::StatusOr<ir::Expr> Real(NodeReader& node, size_t i) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(i, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr scale, node.Arg(i + 1, "scale"));
  Formula f;
  return f.FinishOne(f.Call("qnn.dequantize",
                            {data, f.Squeezed(scale), ZeroPoint(f, node, i + 2, DtypeOf(data))}));
}

// By the scale of operand i and the zero point of the one behind, or a zero of the type.
Results Quantized(NodeReader& node, const ir::Expr& real, size_t i, DataType dtype) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr scale, node.Arg(i, "scale of the result"));
  Formula f;
  return f.Finish(
      {f.Call("qnn.quantize", {real, f.Squeezed(scale), ZeroPoint(f, node, i + 1, dtype)})});
}

// `op` of ONNX with the node's attributes.
absl::StatusOr<ir::Expr> OfOnnx(NodeReader& node, const std::string& op, std::vector<ir::Expr> args,
                                int opset = kQuantizedOpset) {
  HONE_ASSIGN_OR_RETURN(const int64_t channels_last, node.Int("channels_last", 0));
  Formula f;
  if (channels_last != 0) args[0] = ChannelsToFront(f, args[0]);
  HONE_RETURN_IF_ERROR(f.status());
  HONE_ASSIGN_OR_RETURN(const ir::Expr y,
                        ConvertAs(node, op, opset, std::move(args), {"channels_last", "opset"}));
  return f.FinishOne(channels_last != 0 ? ChannelsToBack(f, y) : y);
}

// The operator takes one tensor; the result's scale is operand 3.
Converter QuantizedUnary(const std::string& op) {
  return [op](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const ir::Expr x, Real(node, 0));
    HONE_ASSIGN_OR_RETURN(const int64_t opset, node.Int("opset", kQuantizedOpset));
    HONE_ASSIGN_OR_RETURN(const ir::Expr y, OfOnnx(node, op, {x}, static_cast<int>(opset)));
    return Quantized(node, y, 3, DtypeOf(node.args()[0]));
  };
}

// The operator takes two; the result's scale is operand 6.
Converter QuantizedBinary(const std::string& op) {
  return [op](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const ir::Expr a, Real(node, 0));
    HONE_ASSIGN_OR_RETURN(const ir::Expr b, Real(node, 3));
    HONE_ASSIGN_OR_RETURN(const ir::Expr y, OfOnnx(node, op, {a, b}));
    return Quantized(node, y, 6, DtypeOf(node.args()[0]));
  };
}

Results QuantizedConcat(NodeReader& node) {
  std::vector<ir::Expr> parts;
  for (size_t i = 2; i < node.size(); i += 3) {
    HONE_ASSIGN_OR_RETURN(ir::Expr part, Real(node, i));
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return absl::InvalidArgumentError("tensors to concatenate were expected");
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, OfOnnx(node, "Concat", std::move(parts)));
  return Quantized(node, y, 0, DtypeOf(node.args()[2]));
}

Results QuantizedWhere(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr condition, node.Arg(0, "condition"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, Real(node, 1));
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, Real(node, 4));
  Formula f;
  HONE_ASSIGN_OR_RETURN(const ir::Expr z, f.FinishOne(f.Where(condition, x, y)));
  return Quantized(node, z, 7, DtypeOf(node.args()[1]));
}

// alpha a b + c, with c in the scale of the sums; without a scale of the result, in real numbers.
Results QuantizedGemm(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr a, node.Arg(0, "A"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr a_scale, node.Arg(1, "a_scale"));
  HONE_ASSIGN_OR_RETURN(ir::Expr b, node.Arg(3, "B"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr b_scale, node.Arg(4, "b_scale"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t transpose_a, node.Int("transA", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t transpose_b, node.Int("transB", 0));
  if (RankOf(a) != 2 || RankOf(b) != 2) {
    return absl::InvalidArgumentError(fmt::format("matrices were expected, found {} and {}",
                                                  a->type->ToString(), b->type->ToString()));
  }
  Formula f;
  if (transpose_a != 0) a = f.Transpose(a, {1, 0});
  if (transpose_b == 0) b = f.Transpose(b, {1, 0});
  HONE_RETURN_IF_ERROR(f.status());
  ir::Expr sum = f.Call(
      "qnn.dense", {a, b, ZeroPoint(f, node, 2, DtypeOf(a)), ZeroPoint(f, node, 5, DtypeOf(b))});
  if (node.Has(6)) sum = f.Add(sum, node.args()[6]);
  ir::Expr scale = f.Mul(f.Squeezed(a_scale), f.Squeezed(b_scale));
  scale = f.Mul(scale, f.Number(alpha, scale));
  const ir::Attrs by_column = {{"axis", int64_t{1}}};
  if (!node.Has(7)) {
    const ir::Expr zero = ScalarConstant(0, DataType::kInt32);
    return f.Finish({f.Call("qnn.dequantize", {sum, scale, zero}, by_column)});
  }
  scale = f.Div(scale, f.Squeezed(node.args()[7]));
  return f.Finish(
      {f.Call("qnn.requantize", {sum, scale, ZeroPoint(f, node, 8, DtypeOf(a))}, by_column)});
}

}  // namespace

void AddMicrosoftQuantizedConverters(ConverterTable& table) {
  const std::string domain = "com.microsoft.";
  for (const char* op :
       {"AveragePool", "GlobalAveragePool", "LeakyRelu", "ReduceMean", "Sigmoid", "Softmax"}) {
    table[domain + "QLinear" + op] = QuantizedUnary(op);
  }
  table[domain + "QLinearAdd"] = QuantizedBinary("Add");
  table[domain + "QLinearMul"] = QuantizedBinary("Mul");
  table[domain + "QLinearConcat"] = QuantizedConcat;
  table[domain + "QLinearWhere"] = QuantizedWhere;
  table[domain + "QGemm"] = QuantizedGemm;
  // Those of ONNX, from before it had 16-bit integers.
  for (const char* op : {"QuantizeLinear", "DequantizeLinear"}) table[domain + op] = table.at(op);
}

}  // namespace hone::frontend
