#include "compiler/frontend/tensorflow/as_onnx.h"

#include "compiler/frontend/onnx/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {

absl::StatusOr<ir::Expr> AsOnnx(NodeReader& node, const std::string& op, int opset,
                                std::vector<ir::Expr> args, std::map<std::string, OnnxAttr> attrs) {
  OnnxNode inner;
  inner.name = node.node().name;
  inner.op = op;
  inner.outputs.resize(1);
  inner.attrs = std::move(attrs);
  constexpr int64_t kMostBytes = int64_t{64} << 20;  // tables of positions and weights
  Allowance allowance(kMostBytes);
  frontend::NodeReader reader(inner, opset, std::move(args), &allowance);
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Expr> results, frontend::Converters().at(op)(reader));
  HONE_RETURN_IF_ERROR(reader.CheckAllRead());
  HONE_RETURN_IF_ERROR(node.layouts().allowance().Take(kMostBytes - allowance.bytes_left()));
  return results[0];
}

}  // namespace hone::frontend::tf
