// Conv.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/windows.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::StatusOr<std::vector<ir::Expr>> Conv(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr weight, node.Arg(1, "W"));
  const int64_t spatial = RankOf(data) - 2;
  if (spatial < 1 || spatial > 3 || RankOf(weight) != RankOf(data)) {
    return absl::InvalidArgumentError(
        fmt::format("X and W of one rank from 3 to 5 were expected, found {} and {}",
                    data->type->ToString(), weight->type->ToString()));
  }
  const Shape taps(ShapeOf(weight).begin() + 2, ShapeOf(weight).end());
  HONE_ASSIGN_OR_RETURN(const Shape kernel_shape, node.Ints("kernel_shape", taps));
  if (kernel_shape != taps) {
    return absl::InvalidArgumentError(fmt::format("kernel_shape is ({}), but W is {}",
                                                  fmt::join(kernel_shape, ", "),
                                                  weight->type->ToString()));
  }
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
