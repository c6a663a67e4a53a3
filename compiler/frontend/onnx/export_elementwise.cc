// Elementwise operators as ONNX nodes.
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/export_graph.h"
#include "compiler/frontend/onnx/tensor.h"
#include "compiler/ops/attrs.h"

namespace hone::frontend {
namespace {

// Operators that are one node of the same operands and no attributes.
const std::map<std::string, std::string>& PlainNodes() {
  static const auto* const table =
      new std::map<std::string, std::string>{{"nn.relu", "Relu"},
                                             {"sigmoid", "Sigmoid"},
                                             {"tanh", "Tanh"},
                                             {"exp", "Exp"},
                                             {"log", "Log"},
                                             {"sqrt", "Sqrt"},
                                             {"abs", "Abs"},
                                             {"negative", "Neg"},
                                             {"erf", "Erf"},
                                             {"copy", "Identity"},
                                             {"nn.dropout", "Identity"},
                                             {"add", "Add"},
                                             {"subtract", "Sub"},
                                             {"multiply", "Mul"},
                                             {"divide", "Div"},
                                             {"maximum", "Max"},
                                             {"minimum", "Min"},
                                             {"power", "Pow"},
                                             {"equal", "Equal"},
                                             {"less", "Less"},
                                             {"less_equal", "LessOrEqual"},
                                             {"greater", "Greater"},
                                             {"greater_equal", "GreaterOrEqual"},
                                             {"logical_and", "And"},
                                             {"logical_or", "Or"},
                                             {"logical_not", "Not"},
                                             {"where", "Where"}};
  return *table;
}

bool Plain(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  graph.AddNode(PlainNodes().at(call.name), name, graph.Operands(call, name));
  return true;
}

bool LeakyRelu(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  SetFloat(graph.AddNode("LeakyRelu", name, graph.Operands(call, name)), "alpha",
           ops::FloatAttr(call.attrs, "alpha", 0.01));
  return true;
}

bool Clip(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  if (call.type->tensor.dtype != DataType::kFloat32) return false;
  std::vector<std::string> operands = graph.Operands(call, name);
  for (const char* const bound : {"a_min", "a_max"}) {
    if (!call.attrs.contains(bound)) {
      operands.push_back("");
      continue;
    }
    const auto value = static_cast<float>(ops::FloatAttr(call.attrs, bound, 0));
    operands.push_back(graph.AddFloat(name + "_" + bound, value));
  }
  graph.AddNode("Clip", name, operands);
  return true;
}

bool Cast(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  SetInt(graph.AddNode("Cast", name, graph.Operands(call, name)), "to",
         ToOnnxType(call.type->tensor.dtype));
  return true;
}

}  // namespace

void AddElementwiseExporters(ExporterTable& table) {
  for (const auto& [op, node] : PlainNodes()) table[op] = Plain;
  table["nn.leaky_relu"] = LeakyRelu;
  table["clip"] = Clip;
  table["cast"] = Cast;
}

}  // namespace hone::frontend
