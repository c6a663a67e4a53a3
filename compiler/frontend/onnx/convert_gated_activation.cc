// Activations by a sigmoid of the value itself: Swish, and SwiGLU, in which it is the gate of a
// second value.
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// x sigmoid(alpha x), times `other` unless it is null.
Results Swish(NodeReader& node, const ir::Expr& other) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 1));
  Formula f;
  const ir::Expr x = f.Wide(data);
  const ir::Expr scaled = alpha == 1 ? x : f.Mul(x, f.Number(alpha, x));
  ir::Expr y = f.Mul(x, f.Call("sigmoid", {scaled}));
  if (other) y = f.Mul(y, f.Wide(other));
  return f.Finish({f.Cast(y, DtypeOf(data))});
}

Results SwiGlu(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr b, node.Arg(1, "B"));
  return Swish(node, b);
}

}  // namespace

void AddGatedActivationConverters(ConverterTable& table) {
  table["Swish"] = [](NodeReader& node) { return Swish(node, nullptr); };
  table["SwiGLU"] = SwiGlu;
}

}  // namespace hone::frontend
