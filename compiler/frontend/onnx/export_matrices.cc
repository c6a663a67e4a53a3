// Matrix products and biases as ONNX nodes.
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/export_graph.h"
#include "compiler/ops/attrs.h"

namespace hone::frontend {
namespace {

using Ints = std::vector<int64_t>;

// What `e` is the transpose of, by these axes; null where it is none.
ir::Expr Untransposed(const ir::Expr& e, const Ints& axes) {
  if (!ir::IsCall(e, "transpose")) return nullptr;
  Ints given = ops::IntsAttr(e->attrs, "axes");
  for (int64_t& axis : given) axis += axis < 0 ? static_cast<int64_t>(axes.size()) : 0;
  return given == axes ? e->args[0] : nullptr;
}

// Gemm is for floats alone. Where the weight is a transpose, Gemm reads what that reads.
bool Dense(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  if (call.type->tensor.dtype != call.args[0]->type->tensor.dtype) return false;
  if (!IsFloat(call.type->tensor.dtype)) return false;
  const ir::Expr plain = Untransposed(call.args[1], {1, 0});
  const std::string data = graph.Operand(call.args[0], name + "_data");
  const std::string weight = graph.Operand(plain ? plain : call.args[1], name + "_weight");
  SetInt(graph.AddNode("Gemm", name, {data, weight}), "transB", plain ? 0 : 1);
  return true;
}

// MatMul has no transposed operand: a transpose before the product is left out, or one added.
bool BatchMatmul(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  if (call.type->tensor.dtype != call.args[0]->type->tensor.dtype) return false;
  const ir::Expr plain = Untransposed(call.args[1], {0, 2, 1});
  const std::string data = graph.Operand(call.args[0], name + "_data");
  std::string weight = graph.Operand(plain ? plain : call.args[1], name + "_weight");
  if (!plain) {
    const std::string transposed = graph.Unique(name + "_transposed");
    SetInts(graph.AddNode("Transpose", transposed, {weight}), "perm", {0, 2, 1});
    weight = transposed;
  }
  graph.AddNode("MatMul", name, {data, weight});
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

// The matrix becomes a sparse initializer, which MatMul takes as any other operand. ONNX wants its
// indices in ascending order.
bool SparseDense(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  for (size_t i = 0; i < 3; ++i) {
    if (call.args[i]->kind != ir::ExprKind::kConstant) return false;
  }
  const int64_t columns = call.args[3]->type->tensor.shape[0];
  const std::optional<std::string> matrix =
      graph.SparseOperand(call.args[0], call.args[1], call.args[2], columns, name + "_matrix");
  if (!matrix) return false;
  graph.AddNode("MatMul", name, {*matrix, graph.Operand(call.args[3], name + "_dense")});
  return true;
}

}  // namespace

void AddMatrixExporters(ExporterTable& table) {
  table["nn.dense"] = Dense;
  table["nn.batch_matmul"] = BatchMatmul;
  table["nn.bias_add"] = BiasAdd;
  table["nn.sparse_dense"] = SparseDense;
}

}  // namespace hone::frontend
