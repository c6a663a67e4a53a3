// Range, OneHot, BroadcastTo, TopKV2, Cumsum, Cumprod, Einsum.
#include <fmt/format.h>

#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/tensor_size.h"
#include "compiler/frontend/tensorflow/as_onnx.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

Results Range(NodeReader& node) {
  std::vector<ir::Expr> bounds;
  for (size_t i = 0; i < 3; ++i) {
    HONE_ASSIGN_OR_RETURN(ir::Expr bound, node.Given(i, "start, limit or delta"));
    bounds.push_back(std::move(bound));
  }
  return One(AsOnnx(node, "Range", 11, std::move(bounds)));
}

// An index below 0 or from `depth` on is nowhere.
Results OneHot(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Given(0, "indices"));
  HONE_ASSIGN_OR_RETURN(const int64_t depth, node.OneInt(1, "depth"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr on, node.Given(2, "on_value"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr off, node.Given(3, "off_value"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.IntAttr("axis", -1));
  Formula f;
  const ir::Expr wide = f.Cast(indices, DataType::kInt64);
  const ir::Expr nowhere = ScalarConstant(static_cast<double>(depth), DataType::kInt64);
  const ir::Expr at = f.Where(f.Less(wide, f.Number(0, wide)), nowhere, wide);
  const ir::Expr values = f.Concat({f.Reshape(off, {1}), f.Reshape(on, {1})}, 0);
  return One(f.FinishOne(f.Call("one_hot", {at, values}, {{"depth", depth}, {"axis", axis}})));
}

Results BroadcastTo(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Given(0, "input"));
  HONE_ASSIGN_OR_RETURN(const Shape shape, node.Ints(1, "shape"));
  HONE_RETURN_IF_ERROR(TensorBytes(shape, DtypeOf(data)).status());
  return One(Emit("broadcast_to", {data}, {{"shape", shape}}));
}

// The largest of the last axis and where they were.
Results TopK(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Given(0, "input"));
  HONE_RETURN_IF_ERROR(node.BoolAttr("sorted", true).status());  // unsorted may be any order
  HONE_ASSIGN_OR_RETURN(const DataType index, node.TypeAttrOf("index_type", 3));
  HONE_ASSIGN_OR_RETURN(const int64_t k,
                        node.size() > 1 ? node.OneInt(1, "k") : node.IntAttr("k", 0));
  HONE_ASSIGN_OR_RETURN(
      const ir::Expr call,
      Emit("topk", {data}, {{"k", k}, {"axis", RankOf(data) - 1}, {"largest", true}}));
  const std::vector<ir::Expr> items = ItemsOf(call);
  HONE_ASSIGN_OR_RETURN(ir::Expr at, CastedTo(items[1], index));
  return std::vector<Value>{{items[0]}, {std::move(at)}};
}

Converter Running(const std::string& op, int opset) {
  return [op, opset](NodeReader& node) -> Results {
    HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Given(0, "x"));
    HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Axis(1, RankOf(data)));
    HONE_ASSIGN_OR_RETURN(const bool exclusive, node.BoolAttr("exclusive", false));
    HONE_ASSIGN_OR_RETURN(const bool reverse, node.BoolAttr("reverse", false));
    return One(AsOnnx(node, op, opset, {data, IntsConstant({axis})},
                      {{"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}}));
  };
}

Results Einsum(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const std::string equation, node.StringAttr("equation", ""));
  HONE_RETURN_IF_ERROR(node.IntAttr("N", 0).status());
  std::vector<ir::Expr> args;
  for (size_t i = 0; i < node.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(ir::Expr arg, node.Given(i, "inputs"));
    args.push_back(std::move(arg));
  }
  return One(AsOnnx(node, "Einsum", 12, std::move(args), {{"equation", equation}}));
}

}  // namespace

void AddGenerateConverters(ConverterTable& table) {
  table["Range"] = Range;
  table["OneHot"] = OneHot;
  table["BroadcastTo"] = BroadcastTo;
  table["TopK"] = table["TopKV2"] = TopK;
  table["Cumsum"] = Running("CumSum", 14);
  table["Cumprod"] = Running("CumProd", 26);
  table["Einsum"] = Einsum;
}

}  // namespace hone::frontend::tf
