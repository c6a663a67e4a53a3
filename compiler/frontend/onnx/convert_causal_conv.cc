// CausalConvWithState: a depthwise convolution along time that sees the past alone.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// Results: the convolution, through the activation; and the last positions that the next step will
// see before its own.
Results CausalConvWithState(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr weight, node.Arg(1, "weight"));
  HONE_ASSIGN_OR_RETURN(const std::string activation, node.String("activation", "none"));
  if (RankOf(x) != 3 || RankOf(weight) != 3 || ShapeOf(weight)[0] != ShapeOf(x)[1] ||
      ShapeOf(weight)[2] < 1) {
    return absl::InvalidArgumentError(
        fmt::format("an input (batch, channels, length) and a weight (channels, 1, taps) were "
                    "expected, found {} and {}",
                    x->type->ToString(), weight->type->ToString()));
  }
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return absl::InvalidArgumentError("activation: none, silu or swish was expected, found " +
                                      activation);
  }
  const int64_t before = ShapeOf(weight)[2] - 1;
  Formula f;
  ir::Expr all = x;
  if (node.Has(3) && before > 0) all = f.Concat({node.args()[3], x}, 2);
  if (!node.Has(3) && before > 0) {
    all = f.Call("nn.pad", {x}, {{"pad_width", Shape{0, 0, 0, 0, before, 0}}});
  }
  ir::Expr y = f.Call("nn.conv1d", {all, weight}, {{"groups", ShapeOf(x)[1]}});
  if (node.Has(2)) y = f.Call("nn.bias_add", {y, node.args()[2]}, {{"axis", int64_t{1}}});
  if (activation != "none") y = f.Mul(y, f.Call("sigmoid", {y}));
  HONE_RETURN_IF_ERROR(f.status());
  if (ShapeOf(y) != ShapeOf(x)) {
    return absl::InvalidArgumentError(
        fmt::format("a past_state of {} positions was expected, found {} to the input {}", before,
                    node.Has(3) ? node.args()[3]->type->ToString() : "none", x->type->ToString()));
  }
  const int64_t length = ShapeOf(all)[2];
  return f.Finish({y, f.Slice(all, 2, length - before, length)});
}

}  // namespace

void AddCausalConvConverters(ConverterTable& table) {
  table["CausalConvWithState"] = CausalConvWithState;
}

}  // namespace hone::frontend
