// GatherElements, GatherND, ScatterElements, ScatterND, Scatter, TopK.
#include <fmt/format.h>

#include <span>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/index_check.h"
#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The indices are positions along one axis of the data.
absl::Status CheckAlong(int64_t axis, const ir::Expr& data, const ir::Expr& indices) {
  HONE_ASSIGN_OR_RETURN(const int64_t at, AxisOf(axis, RankOf(data)));
  return CheckIndices(indices, ShapeOf(data)[at]);
}

// The indices are tuples of positions in the axes of the data from `first` on.
absl::Status CheckTuples(const ir::Expr& data, const ir::Expr& indices, int64_t first) {
  const Shape& shape = ShapeOf(data);
  const int64_t items = RankOf(indices) == 0 ? 0 : ShapeOf(indices).back();
  if (first < 0 || items < 0 || first + items > RankOf(data)) return absl::OkStatus();  // no tuples
  return CheckIndexTuples(indices, std::span(shape).subspan(first, items));
}

Results GatherElements(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Arg(1, "indices"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", 0));
  HONE_RETURN_IF_ERROR(CheckAlong(axis, data, indices));
  return One(Emit("gather_elements", {data, indices}, {{"axis", axis}}));
}

Results GatherNd(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Arg(1, "indices"));
  HONE_ASSIGN_OR_RETURN(const int64_t batch, node.Int("batch_dims", 0));
  HONE_RETURN_IF_ERROR(CheckTuples(data, indices, batch));
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
    HONE_RETURN_IF_ERROR(CheckAlong(axis, data, indices));
  } else {
    HONE_RETURN_IF_ERROR(CheckTuples(data, indices, 0));
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
