// GatherElements, GatherND, ScatterElements, ScatterND, Scatter, TopK.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

Results GatherElements(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Arg(1, "indices"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", 0));
  return One(Emit("gather_elements", {data, indices}, {{"axis", axis}}));
}

Results GatherNd(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Arg(1, "indices"));
  HONE_ASSIGN_OR_RETURN(const int64_t batch, node.Int("batch_dims", 0));
  return One(Emit("gather_nd", {data, indices}, {{"batch_dims", batch}}));
}

Results Scatter(NodeReader& node, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Arg(1, "indices"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr updates, node.Arg(2, "updates"));
  HONE_ASSIGN_OR_RETURN(const std::string reduction, node.String("reduction", "none"));
  ir::Attrs attrs = {{"reduction", reduction}};
  if (op == "scatter_elements") {
    HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", 0));
    attrs["axis"] = axis;
  }
  return One(Emit(op, {data, indices, updates}, std::move(attrs)));
}

// k is an attribute before opset 10.
Results TopK(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", -1));
  HONE_ASSIGN_OR_RETURN(const int64_t largest, node.Int("largest", 1));
  HONE_RETURN_IF_ERROR(node.Int("sorted", 1).status());  // unsorted may be any order
  int64_t k = 0;
  if (node.opset() < 10) {
    HONE_ASSIGN_OR_RETURN(k, node.Int("k", -1));
  } else {
    HONE_ASSIGN_OR_RETURN(const Shape given, node.ConstantInts(1, "K"));
    if (given.size() != 1) return absl::InvalidArgumentError("K was expected to be one number");
    k = given[0];
  }
  HONE_ASSIGN_OR_RETURN(
      const ir::Expr call,
      Emit("topk", {data}, {{"k", k}, {"axis", axis}, {"largest", largest != 0}}));
  return ItemsOf(call);
}

}  // namespace

void AddGatherConverters(ConverterTable& table) {
  table["GatherElements"] = GatherElements;
  table["GatherND"] = GatherNd;
  table["Scatter"] = [](NodeReader& node) { return Scatter(node, "scatter_elements"); };
  table["ScatterElements"] = [](NodeReader& node) { return Scatter(node, "scatter_elements"); };
  table["ScatterND"] = [](NodeReader& node) { return Scatter(node, "scatter_nd"); };
  table["TopK"] = TopK;
}

}  // namespace hone::frontend
