// Products of bytes with real results, which onnxruntime's quantiser and optimiser write in the
// domain com.microsoft: MatMulIntegerToFloat and DynamicQuantizeMatMul.
#include "compiler/frontend/onnx/convert_as.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/integer_product.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The newest opset that the operators used here have kept their meaning in.
constexpr int kProductOpset = 11;

OnnxNode Inner(const NodeReader& node, const std::string& op, size_t outputs) {
  OnnxNode inner;
  inner.name = node.node().name;
  inner.op = op;
  inner.outputs.resize(outputs);
  return inner;
}

Results MatMulIntegerToFloat(NodeReader& node) {
  QuantizedOperand a;
  QuantizedOperand b;
  HONE_ASSIGN_OR_RETURN(a.data, node.Arg(0, "A"));
  HONE_ASSIGN_OR_RETURN(b.data, node.Arg(1, "B"));
  HONE_ASSIGN_OR_RETURN(a.scale, node.Arg(2, "a_scale"));
  HONE_ASSIGN_OR_RETURN(b.scale, node.Arg(3, "b_scale"));
  a.zero_point = node.ArgOrNull(4);
  b.zero_point = node.ArgOrNull(5);
  return One(IntegerProduct(node, a, b, node.ArgOrNull(6)));
}

Results DynamicQuantizeMatMul(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "A"));
  HONE_ASSIGN_OR_RETURN(const QuantizedOperand a, QuantizeDynamically(node, x));
  QuantizedOperand b;
  HONE_ASSIGN_OR_RETURN(b.data, node.Arg(1, "B"));
  HONE_ASSIGN_OR_RETURN(b.scale, node.Arg(2, "b_scale"));
  b.zero_point = node.ArgOrNull(3);
  return One(IntegerProduct(node, a, b, node.ArgOrNull(4)));
}

}  // namespace

absl::StatusOr<ir::Expr> IntegerProduct(const NodeReader& node, const QuantizedOperand& a,
                                        const QuantizedOperand& b, const ir::Expr& bias) {
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Expr> sums,
                        ConvertInner(node, Inner(node, "MatMulInteger", 1), kProductOpset,
                                     {a.data, b.data, a.zero_point, b.zero_point}));
  Formula f;
  const ir::Expr scale = f.Mul(f.Squeezed(a.scale), f.Squeezed(b.scale));
  HONE_RETURN_IF_ERROR(f.status());
  const ir::Expr product = f.Mul(f.Cast(sums[0], DtypeOf(scale)), scale);
  return f.FinishOne(bias ? f.Add(product, bias) : product);
}

absl::StatusOr<QuantizedOperand> QuantizeDynamically(const NodeReader& node, const ir::Expr& x) {
  HONE_ASSIGN_OR_RETURN(
      const std::vector<ir::Expr> results,
      ConvertInner(node, Inner(node, "DynamicQuantizeLinear", 3), kProductOpset, {x}));
  return QuantizedOperand{results[0], results[1], results[2]};
}

absl::StatusOr<ir::Expr> RoundedRows(const ir::Expr& x) {
  Formula f;
  const ir::Attrs of_row = {{"axis", Shape{1}}, {"keepdims", true}};
  const ir::Expr zero = f.Number(0, x);
  const ir::Expr low = f.Min(f.Call("min", {x}, of_row), zero);
  const ir::Expr range = f.Sub(f.Max(f.Call("max", {x}, of_row), zero), low);
  const ir::Expr scale =
      f.Where(f.Call("equal", {range, zero}), f.Number(1, x), f.Div(range, f.Number(255, x)));
  const ir::Expr point = f.Call("round", {f.Div(f.Sub(zero, low), scale)});
  const ir::Expr zero_point =
      f.Cast(f.Call("clip", {point}, {{"a_min", 0.0}, {"a_max", 255.0}}), DataType::kUInt8);
  const ir::Expr bytes = f.Call("qnn.quantize", {x, scale, zero_point});
  return f.FinishOne(f.Call("qnn.dequantize", {bytes, scale, zero_point}));
}

void AddIntegerProductConverters(ConverterTable& table) {
  table["com.microsoft.DynamicQuantizeMatMul"] = DynamicQuantizeMatMul;
  table["com.microsoft.MatMulIntegerToFloat"] = MatMulIntegerToFloat;
}

}  // namespace hone::frontend
