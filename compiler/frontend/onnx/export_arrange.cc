// Operators that move elements, and reductions, as ONNX nodes.
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/export_graph.h"
#include "compiler/ops/attrs.h"

namespace hone::frontend {
namespace {

using Ints = std::vector<int64_t>;

bool Concat(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  SetInt(graph.AddNode("Concat", name, graph.Operands(*call.args[0], name)), "axis",
         ops::IntAttr(call.attrs, "axis", 0));
  return true;
}

// Also squeeze and expand_dims: the result's shape is known.
bool Reshape(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  std::vector<std::string> operands = graph.Operands(call, name, {"data"});
  operands.push_back(graph.AddInts(name + "_shape", call.type->tensor.shape));
  graph.AddNode("Reshape", name, operands);
  return true;
}

bool Flatten(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  graph.AddNode("Flatten", name, graph.Operands(call, name));
  return true;
}

bool Transpose(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  onnx::NodeProto* node = graph.AddNode("Transpose", name, graph.Operands(call, name, {"data"}));
  if (!call.attrs.contains("axes")) return true;
  Ints axes = ops::IntsAttr(call.attrs, "axes");
  for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(axes.size()) : 0;
  SetInts(node, "perm", axes);
  return true;
}

bool Slice(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  const Ints begin = ops::IntsAttr(call.attrs, "begin");
  Ints axes = ops::IntsAttr(call.attrs, "axes");
  for (size_t i = 0; i < begin.size() && !call.attrs.contains("axes"); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  std::vector<std::string> operands = graph.Operands(call, name, {"data"});
  operands.push_back(graph.AddInts(name + "_starts", begin));
  operands.push_back(graph.AddInts(name + "_ends", ops::IntsAttr(call.attrs, "end")));
  operands.push_back(graph.AddInts(name + "_axes", axes));
  const Ints strides = ops::IntsAttr(call.attrs, "strides");
  if (!strides.empty()) operands.push_back(graph.AddInts(name + "_steps", strides));
  graph.AddNode("Slice", name, operands);
  return true;
}

bool Take(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  const DataType indices = call.args[1]->type->tensor.dtype;
  if (indices != DataType::kInt64 && indices != DataType::kInt32) return false;
  SetInt(graph.AddNode("Gather", name, graph.Operands(call, name, {"data", "indices"})), "axis",
         ops::IntAttr(call.attrs, "axis", 0));
  return true;
}

// Up to opset 17, the axes are an operand of ReduceSum and an attribute of the others.
bool Reduce(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  if (ops::BoolAttr(call.attrs, "exclude", false)) return false;
  const std::map<std::string, std::string> nodes = {{"sum", "ReduceSum"},
                                                    {"mean", "ReduceMean"},
                                                    {"prod", "ReduceProd"},
                                                    {"max", "ReduceMax"},
                                                    {"min", "ReduceMin"}};
  std::vector<std::string> operands = graph.Operands(call, name);
  const Ints axes = ops::IntsAttr(call.attrs, "axis");
  const bool is_sum = call.name == "sum";
  if (is_sum && !axes.empty()) operands.push_back(graph.AddInts(name + "_axes", axes));
  onnx::NodeProto* node = graph.AddNode(nodes.at(call.name), name, operands);
  if (!is_sum && !axes.empty()) SetInts(node, "axes", axes);
  SetInt(node, "keepdims", ops::BoolAttr(call.attrs, "keepdims", false) ? 1 : 0);
  return true;
}

}  // namespace

void AddArrangeExporters(ExporterTable& table) {
  table["concatenate"] = Concat;
  for (const char* const op : {"reshape", "squeeze", "expand_dims"}) table[op] = Reshape;
  table["nn.batch_flatten"] = Flatten;
  table["transpose"] = Transpose;
  table["strided_slice"] = Slice;
  table["take"] = Take;
  for (const char* const op : {"sum", "mean", "prod", "max", "min"}) table[op] = Reduce;
}

}  // namespace hone::frontend
