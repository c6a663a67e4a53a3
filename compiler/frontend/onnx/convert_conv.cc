// Conv.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/windows.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::StatusOr<std::vector<ir::Expr>> Conv(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ConvOperands operands, ReadConvOperands(node));
  const auto& [data, weight, taps] = operands;
  const int64_t spatial = RankOf(data) - 2;
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, data, taps));
  HONE_ASSIGN_OR_RETURN(const int64_t groups, node.Int("group", 1));
  attrs["groups"] = groups;
  HONE_ASSIGN_OR_RETURN(ir::Expr result,
                        Emit(fmt::format("nn.conv{}d", spatial), {data, weight}, std::move(attrs)));
  if (node.Has(2)) {
    HONE_ASSIGN_OR_RETURN(result,
                          Emit("nn.bias_add", {result, node.args()[2]}, {{"axis", int64_t{1}}}));
  }
  return std::vector<ir::Expr>{result};
}

}  // namespace

void AddConvConverters(ConverterTable& table) { table["Conv"] = Conv; }

}  // namespace hone::frontend
