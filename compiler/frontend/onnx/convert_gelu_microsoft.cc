// The activations of the domain com.microsoft that onnxruntime's optimiser writes: Gelu, BiasGelu,
// FastGelu, QuickGelu.
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/gelu.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The function of operand 0, with the vector that is operand 1 added before where the node has it.
Results BiasedGelu(NodeReader& node, ir::Expr (*gelu)(Formula&, const ir::Expr&)) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  Formula f;
  ir::Expr x = f.Wide(data);
  if (node.Has(1)) x = f.Add(x, f.Wide(node.args()[1]));
  HONE_RETURN_IF_ERROR(f.status());
  return f.Finish({f.Cast(gelu(f, x), DtypeOf(data))});
}

Results BiasGelu(NodeReader& node) {
  HONE_RETURN_IF_ERROR(node.Arg(1, "B").status());
  return BiasedGelu(node, ErfGelu);
}

// x sigmoid(alpha x).
Results QuickGelu(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const double alpha, node.Float("alpha", 1.702));
  Formula f;
  const ir::Expr x = f.Wide(data);
  const ir::Expr share = f.Call("sigmoid", {f.Mul(x, f.Number(alpha, x))});
  return f.Finish({f.Cast(f.Mul(x, share), DtypeOf(data))});
}

}  // namespace

void AddMicrosoftGeluConverters(ConverterTable& table) {
  table["com.microsoft.Gelu"] = [](NodeReader& node) { return BiasedGelu(node, ErfGelu); };
  table["com.microsoft.BiasGelu"] = BiasGelu;
  table["com.microsoft.FastGelu"] = [](NodeReader& node) { return BiasedGelu(node, TanhGelu); };
  table["com.microsoft.QuickGelu"] = QuickGelu;
}

}  // namespace hone::frontend
