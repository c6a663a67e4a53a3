// Mean, Sum, Max, Min, Prod, All, Any over any axes; ArgMax, ArgMin.
#include <algorithm>

#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

// Over height and width of an image: the pool that other frameworks have for it, so that they share
// its kernel.
absl::StatusOr<ir::Expr> GlobalPool(const std::string& op, const ir::Expr& image, bool keep) {
  const std::string pool = op == "mean" ? "nn.global_avg_pool2d" : "nn.global_max_pool2d";
  HONE_ASSIGN_OR_RETURN(ir::Expr e, Emit(pool, {image}));
  if (keep) return e;
  return Emit("nn.batch_flatten", {e});
}

Results Reduce(NodeReader& node, const Value& value, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(const Shape given, node.Ints(1, "reduction_indices"));
  HONE_ASSIGN_OR_RETURN(const bool keep, node.BoolAttr("keep_dims", false));
  HONE_ASSIGN_OR_RETURN(Shape axes, AxesOf(given, RankOf(value.e)));
  std::sort(axes.begin(), axes.end());
  if (axes.empty()) return std::vector<Value>{value};  // Hone's empty list means all
  if (value.channels_first && axes == Shape{1, 2} && (op == "mean" || op == "max")) {
    return One(GlobalPool(op, value.e, keep), keep);
  }
  // Without kept axes, what is left has its order only where channels, or height and width, go.
  const auto goes = [&](int64_t axis) {
    return std::binary_search(axes.begin(), axes.end(), axis);
  };
  const bool in_order = keep || goes(3) || (goes(1) && goes(2));
  if (!value.channels_first || !in_order) {
    HONE_ASSIGN_OR_RETURN(const ir::Expr e, node.layouts().AsGiven(value));
    return One(Emit(op, {e}, {{"axis", axes}, {"keepdims", keep}}));
  }
  for (int64_t& axis : axes) axis = ChannelsFirstAxis(axis);
  std::sort(axes.begin(), axes.end());
  return One(Emit(op, {value.e}, {{"axis", axes}, {"keepdims", keep}}), keep);
}

// The least or the greatest of truth values, as bytes.
Results ReduceBools(NodeReader& node, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(Value value, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(value.e, CastedTo(value.e, DataType::kUInt8));
  HONE_ASSIGN_OR_RETURN(std::vector<Value> results, Reduce(node, value, op));
  HONE_ASSIGN_OR_RETURN(results[0].e, CastedTo(results[0].e, DataType::kBool));
  return results;
}

Results ArgReduce(NodeReader& node, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, node.Given(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Axis(1, RankOf(e)));
  HONE_ASSIGN_OR_RETURN(const DataType dtype, node.TypeAttrOf("output_type", 9));
  HONE_ASSIGN_OR_RETURN(const ir::Expr index, Emit(op, {e}, {{"axis", axis}, {"keepdims", false}}));
  return One(CastedTo(index, dtype));
}

}  // namespace

void AddReduceConverters(ConverterTable& table) {
  const std::pair<const char*, const char*> reductions[] = {
      {"Mean", "mean"}, {"Sum", "sum"}, {"Max", "max"}, {"Min", "min"}, {"Prod", "prod"}};
  for (const auto& [name, op] : reductions) {
    table[name] = [op = std::string(op)](NodeReader& node) -> Results {
      HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "input"));
      return Reduce(node, value, op);
    };
  }
  table["All"] = [](NodeReader& node) { return ReduceBools(node, "min"); };
  table["Any"] = [](NodeReader& node) { return ReduceBools(node, "max"); };
  table["ArgMax"] = [](NodeReader& node) { return ArgReduce(node, "argmax"); };
  table["ArgMin"] = [](NodeReader& node) { return ArgReduce(node, "argmin"); };
}

}  // namespace hone::frontend::tf
