// Convolutions, pools and LRN as ONNX nodes.
#include <onnx/onnx_pb.h>

#include "compiler/frontend/onnx/export_graph.h"
#include "compiler/ops/attrs.h"

namespace hone::frontend {
namespace {

using Ints = std::vector<int64_t>;

// Padding in ONNX's form: all begins, then all ends.
Ints Pads(const ir::Attrs& attrs, size_t axes) {
  Ints pads = ops::IntsAttr(attrs, "padding", Ints(axes, 0));
  if (pads.size() == 1) pads.assign(axes, pads[0]);
  if (pads.size() == axes) pads.insert(pads.end(), pads.begin(), pads.begin() + axes);
  return pads;
}

Ints AttrPerAxis(const ir::Attrs& attrs, const std::string& name, size_t axes) {
  Ints values = ops::IntsAttr(attrs, name, Ints(axes, 1));
  if (values.size() == 1) values.assign(axes, values[0]);
  return values;
}

bool Conv(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  if (ops::IntAttr(call.attrs, "pad_value", 0) != 0) return false;
  const bool transposed = call.name.ends_with("_transpose");
  onnx::NodeProto* node = graph.AddNode(transposed ? "ConvTranspose" : "Conv", name,
                                        graph.Operands(call, name, {"data", "weight"}));
  const Ints& weight = call.args[1]->type->tensor.shape;
  const size_t axes = weight.size() - 2;
  SetInts(node, "kernel_shape", Ints(weight.begin() + 2, weight.end()));
  SetInts(node, "strides", AttrPerAxis(call.attrs, "strides", axes));
  SetInts(node, "dilations", AttrPerAxis(call.attrs, "dilation", axes));
  SetInts(node, "pads", Pads(call.attrs, axes));
  SetInt(node, "group", ops::IntAttr(call.attrs, "groups", 1));
  if (transposed) {
    SetInts(node, "output_padding", ops::IntsAttr(call.attrs, "output_padding", Ints(axes, 0)));
  }
  return true;
}

bool Pool(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  const bool average = call.name.starts_with("nn.avg");
  const size_t axes = call.type->tensor.shape.size() - 2;
  const Ints dilation = AttrPerAxis(call.attrs, "dilation", axes);
  if (average && dilation != Ints(axes, 1)) return false;  // from opset 19 on
  onnx::NodeProto* node =
      graph.AddNode(average ? "AveragePool" : "MaxPool", name, graph.Operands(call, name));
  SetInts(node, "kernel_shape", AttrPerAxis(call.attrs, "pool_size", axes));
  SetInts(node, "strides", AttrPerAxis(call.attrs, "strides", axes));
  SetInts(node, "pads", Pads(call.attrs, axes));
  SetInt(node, "ceil_mode", ops::BoolAttr(call.attrs, "ceil_mode", false) ? 1 : 0);
  if (average) {
    const bool count = ops::BoolAttr(call.attrs, "count_include_pad", false);
    SetInt(node, "count_include_pad", count ? 1 : 0);
  } else {
    SetInts(node, "dilations", dilation);
  }
  return true;
}

bool GlobalPool(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  const bool average = call.name.starts_with("nn.global_avg");
  graph.AddNode(average ? "GlobalAveragePool" : "GlobalMaxPool", name, graph.Operands(call, name));
  return true;
}

bool Lrn(ExportGraph& graph, const ir::ExprNode& call, const std::string& name) {
  if (ops::IntAttr(call.attrs, "axis", 1) != 1) return false;
  onnx::NodeProto* node = graph.AddNode("LRN", name, graph.Operands(call, name));
  SetInt(node, "size", ops::IntAttr(call.attrs, "size", 5));
  SetFloat(node, "alpha", ops::FloatAttr(call.attrs, "alpha", 1e-4));
  SetFloat(node, "beta", ops::FloatAttr(call.attrs, "beta", 0.75));
  SetFloat(node, "bias", ops::FloatAttr(call.attrs, "bias", 1));
  return true;
}

}  // namespace

void AddWindowExporters(ExporterTable& table) {
  for (const std::string axes : {"1d", "2d", "3d"}) {
    table["nn.conv" + axes] = Conv;
    table["nn.conv" + axes + "_transpose"] = Conv;
    table["nn.max_pool" + axes] = Pool;
    table["nn.avg_pool" + axes] = Pool;
    table["nn.global_max_pool" + axes] = GlobalPool;
    table["nn.global_avg_pool" + axes] = GlobalPool;
  }
  table["nn.lrn"] = Lrn;
}

}  // namespace hone::frontend
