// Normalisations and softmax as ONNX nodes.
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/export_graph.h"
#include "compiler/ops/attrs.h"

namespace hone::frontend {
namespace {

bool BatchNorm(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  const bool has_form = ops::BoolAttr(call.attrs, "center", true) &&
                        ops::BoolAttr(call.attrs, "scale", true) &&
                        ops::IntAttr(call.attrs, "axis", 1) == 1;
  if (!has_form) return false;
  onnx::NodeProto* node =
      graph.AddNode("BatchNormalization", name,
                    graph.Operands(call, name, {"data", "gamma", "beta", "mean", "variance"}));
  SetFloat(node, "epsilon", ops::FloatAttr(call.attrs, "epsilon", 1e-5));
  return true;
}

bool Softmax(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  const char* const op = call.name == "nn.softmax" ? "Softmax" : "LogSoftmax";
  SetInt(graph.AddNode(op, name, graph.Operands(call, name)), "axis",
         ops::IntAttr(call.attrs, "axis", -1));
  return true;
}

}  // namespace

void AddNormalizationExporters(ExporterTable& table) {
  table["nn.batch_norm"] = BatchNorm;
  table["nn.softmax"] = Softmax;
  table["nn.log_softmax"] = Softmax;
}

}  // namespace hone::frontend
