// MaxPool, AveragePool and their global forms.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/windows.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::StatusOr<std::vector<ir::Expr>> Pool(NodeReader& node, bool average) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank(data));
  HONE_ASSIGN_OR_RETURN(const Shape taps, node.Ints("kernel_shape"));
  if (taps.size() != static_cast<size_t>(spatial)) {
    return absl::InvalidArgumentError(
        fmt::format("kernel_shape of {} extents was expected, found {}", spatial, taps.size()));
  }
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, data, taps));
  HONE_ASSIGN_OR_RETURN(const int64_t ceil_mode, node.Int("ceil_mode", 0));
  attrs["pool_size"] = taps;
  if (ceil_mode != 0) attrs["ceil_mode"] = true;
  int64_t storage_order = 0;  // of the indices alone
  if (average) {
    HONE_ASSIGN_OR_RETURN(const int64_t count, node.Int("count_include_pad", 0));
    if (count != 0) attrs["count_include_pad"] = true;
  } else {
    HONE_ASSIGN_OR_RETURN(storage_order, node.Int("storage_order", 0));
  }
  const auto& outputs = node.node().outputs;
  std::vector<ir::Expr> indices;
  if (!average && outputs.size() > 1 && !outputs[1].empty()) {
    ir::Attrs of_indices = attrs;
    if (storage_order != 0) of_indices["column_major"] = true;
    HONE_ASSIGN_OR_RETURN(ir::Expr e, Emit(fmt::format("nn.max_pool{}d_indices", spatial), {data},
                                           std::move(of_indices)));
    indices.push_back(std::move(e));
  }
  const std::string op = fmt::format("nn.{}_pool{}d", average ? "avg" : "max", spatial);
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit(op, {data}, std::move(attrs)));
  std::vector<ir::Expr> results = {result};
  results.insert(results.end(), indices.begin(), indices.end());
  return results;
}

absl::StatusOr<std::vector<ir::Expr>> GlobalPool(NodeReader& node, bool average) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank(data));
  const std::string op = fmt::format("nn.global_{}_pool{}d", average ? "avg" : "max", spatial);
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit(op, {data}));
  return std::vector<ir::Expr>{result};
}

}  // namespace

void AddPoolConverters(ConverterTable& table) {
  table["MaxPool"] = [](NodeReader& node) { return Pool(node, false); };
  table["AveragePool"] = [](NodeReader& node) { return Pool(node, true); };
  table["GlobalMaxPool"] = [](NodeReader& node) { return GlobalPool(node, false); };
  table["GlobalAveragePool"] = [](NodeReader& node) { return GlobalPool(node, true); };
}

}  // namespace hone::frontend
