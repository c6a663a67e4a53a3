#include "compiler/frontend/onnx/convert_as.h"

#include "compiler/frontend/onnx/converters.h"
#include "support/status.h"

namespace hone::frontend {

Results ConvertInner(const NodeReader& node, const OnnxNode& inner, int opset,
                     std::vector<ir::Expr> args) {
  NodeReader reader = node.WithOperands(inner, opset, std::move(args));
  HONE_ASSIGN_OR_RETURN(std::vector<ir::Expr> results, Converters().at(inner.op)(reader));
  HONE_RETURN_IF_ERROR(reader.CheckAllRead());
  return results;
}

absl::StatusOr<ir::Expr> ConvertAs(NodeReader& node, const std::string& op, int opset,
                                   std::vector<ir::Expr> args,
                                   const std::vector<std::string>& own) {
  OnnxNode inner = node.node();
  inner.op = op;
  inner.outputs.resize(1);
  for (const std::string& name : own) inner.attrs.erase(name);
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Expr> results,
                        ConvertInner(node, inner, opset, std::move(args)));
  for (const auto& [name, value] : inner.attrs) node.Raw(name);
  return results[0];
}

}  // namespace hone::frontend
