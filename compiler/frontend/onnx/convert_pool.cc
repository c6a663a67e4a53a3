// MaxPool, AveragePool and their global forms.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/windows.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::StatusOr<int64_t> SpatialRank(const ir::Expr& data) {
  const int64_t spatial = RankOf(data) - 2;
  if (spatial >= 1 && spatial <= 3) return spatial;
  return absl::InvalidArgumentError(
      fmt::format("X of rank 3 to 5 was expected, found {}", data->type->ToString()));
}

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
  if (average) {
    HONE_ASSIGN_OR_RETURN(const int64_t count, node.Int("count_include_pad", 0));
    if (count != 0) attrs["count_include_pad"] = true;
  } else {
    HONE_RETURN_IF_ERROR(node.Int("storage_order", 0).status());  // of the indices alone
    const auto& outputs = node.node().outputs;
    if (outputs.size() > 1 && !outputs[1].empty()) {
      return absl::UnimplementedError("Hone does not give the indices of a MaxPool");
    }
  }
  const std::string op = fmt::format("nn.{}_pool{}d", average ? "avg" : "max", spatial);
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit(op, {data}, std::move(attrs)));
  return std::vector<ir::Expr>{result};
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
