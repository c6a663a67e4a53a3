// Matrix products and biases as ONNX nodes.
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/export_graph.h"
#include "compiler/ops/attrs.h"

namespace hone::frontend {
namespace {

using Ints = std::vector<int64_t>;

// Gemm is for floats alone.
bool Dense(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  if (call.type->tensor.dtype != call.args[0]->type->tensor.dtype) return false;
  if (!IsFloat(call.type->tensor.dtype)) return false;
  SetInt(graph.AddNode("Gemm", name, graph.Operands(call, name, {"data", "weight"})), "transB", 1);
  return true;
}

// MatMul has no transposed operand. A transpose right before the product is undone by not writing
// another one.
bool BatchMatmul(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  if (call.type->tensor.dtype != call.args[0]->type->tensor.dtype) return false;
  std::vector<std::string> operands = graph.Operands(call, name, {"data", "weight"});
  const ir::ExprNode& weight = *call.args[1];
  const bool undone = weight.name == "transpose" &&
                      weight.args[0]->type->tensor.shape.size() == 3 &&
                      ops::IntsAttr(weight.attrs, "axes") == Ints{0, 2, 1};
  if (undone) {
    operands[1] = graph.NameOf(*weight.args[0]);
  } else {
    const std::string transposed = graph.Unique(name + "_transposed");
    SetInts(graph.AddNode("Transpose", transposed, {operands[1]}), "perm", {0, 2, 1});
    operands[1] = transposed;
  }
  graph.AddNode("MatMul", name, operands);
  return true;
}

bool TakesBias(const ir::ExprNode& e) {
  return e.name.starts_with("nn.conv") || e.name == "nn.dense";
}

// Goes into the Conv or Gemm before it where that has no other reader; else it is an Add of the
// bias with axes of 1 after its own.
bool BiasAdd(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  const ir::ExprNode& data = *call.args[0];
  const int64_t rank = static_cast<int64_t>(call.type->tensor.shape.size());
  int64_t axis = ops::IntAttr(call.attrs, "axis", 1);
  if (axis < 0) axis += rank;
  onnx::NodeProto* before =
      TakesBias(data) && axis == 1 ? graph.LastNodeOfOneReader(data) : nullptr;
  if (before != nullptr && before->input_size() == 2) {
    before->add_input(graph.Operand(call.args[1], graph.NameOf(data) + "_bias"));
    before->set_output(0, name);
    return true;
  }
  std::vector<std::string> operands = graph.Operands(call, name, {"data", "bias"});
  if (axis != rank - 1) {
    Ints axes;
    for (int64_t i = 1; i < rank - axis; ++i) axes.push_back(i);
    const std::string wide = graph.Unique(name + "_bias_axes");
    graph.AddNode("Unsqueeze", wide, {operands[1], graph.AddInts(name + "_axes", axes)});
    operands[1] = wide;
  }
  graph.AddNode("Add", name, operands);
  return true;
}

}  // namespace

void AddMatrixExporters(ExporterTable& table) {
  table["nn.dense"] = Dense;
  table["nn.batch_matmul"] = BatchMatmul;
  table["nn.bias_add"] = BiasAdd;
}

}  // namespace hone::frontend
