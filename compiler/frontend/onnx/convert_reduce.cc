// ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd.
#include "compiler/frontend/onnx/converters.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// Axes are an attribute in early opsets and an operand later. None: all, or with
// noop_with_empty_axes none at all.
Converter Reduce(const std::string& op) {
  return [op](NodeReader& node) -> absl::StatusOr<std::vector<ir::Expr>> {
    HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
    HONE_ASSIGN_OR_RETURN(const int64_t keepdims, node.Int("keepdims", 1));
    HONE_ASSIGN_OR_RETURN(const int64_t noop, node.Int("noop_with_empty_axes", 0));
    HONE_ASSIGN_OR_RETURN(const auto axes, node.IntsAttrOrArg("axes", 1));
    if (noop != 0 && (!axes || axes->empty())) return std::vector<ir::Expr>{data};
    ir::Attrs attrs = {{"keepdims", keepdims != 0}};
    if (axes && !axes->empty()) attrs["axis"] = *axes;
    HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit(op, {data}, std::move(attrs)));
    return std::vector<ir::Expr>{result};
  };
}

}  // namespace

void AddReduceConverters(ConverterTable& table) {
  table["ReduceSum"] = Reduce("sum");
  table["ReduceMean"] = Reduce("mean");
  table["ReduceMax"] = Reduce("max");
  table["ReduceMin"] = Reduce("min");
  table["ReduceProd"] = Reduce("prod");
}

}  // namespace hone::frontend
