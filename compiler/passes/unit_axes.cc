#include "compiler/passes/unit_axes.h"

#include <algorithm>
#include <vector>

#include "compiler/ops/attrs.h"
#include "compiler/ops/typing.h"

namespace hone::passes {

using ir::Expr;
using Ints = std::vector<int64_t>;

Expr SoftmaxWithoutUnitAxes(const Expr& node) {
  if (!ir::IsCall(node, "nn.softmax") && !ir::IsCall(node, "nn.log_softmax")) return nullptr;
  const Ints& shape = node->type->tensor.shape;
  const int64_t axis = ops::AxisFromFront(ops::IntAttr(node->attrs, "axis", -1), shape.size());
  const auto behind = shape.begin() + axis + 1;
  if (behind == shape.end() || std::any_of(behind, shape.end(), [](int64_t n) { return n != 1; })) {
    return nullptr;
  }
  const Expr rows =
      ir::Call("reshape", {node->args[0]}, {{"newshape", Ints(shape.begin(), behind)}});
  return ir::Call("reshape", {ir::Call(node->name, {rows}, {{"axis", int64_t{-1}}})},
                  {{"newshape", shape}});
}

}  // namespace hone::passes
