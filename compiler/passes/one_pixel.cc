#include "compiler/passes/one_pixel.h"

#include <algorithm>
#include <vector>

#include "compiler/ops/attrs.h"
#include "compiler/ops/window.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Ints = std::vector<int64_t>;

bool IsConvTranspose(const Expr& node) {
  return node->kind == ir::ExprKind::kCall && !node->callee && node->name.starts_with("nn.conv") &&
         node->name.ends_with("d_transpose");
}

bool AllAre(const Ints& values, int64_t value) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

// Whether result position k meets tap k of the one pixel and nothing else.
bool IsOnePixel(const Expr& node, const Ints& taps, const Ints& result) {
  const auto window = ops::ReadWindow(node->name, node->attrs, taps);
  return window.ok() && ops::IntAttr(node->attrs, "groups", 1) == 1 &&
         AllAre(ops::IntsAttr(node->attrs, "output_padding"), 0) && AllAre(window->before, 0) &&
         AllAre(window->after, 0) && AllAre(window->dilation, 1) && result == taps &&
         !AllAre(taps, 1);
}

Ints Spatial(const Ints& shape) { return Ints(shape.begin() + 2, shape.end()); }

Expr UntypedReshape(const Expr& e, Ints shape) {
  return ir::Call("reshape", {e}, {{"newshape", std::move(shape)}});
}

}  // namespace

Expr DenseOfOnePixel(const Expr& node) {
  if (!IsConvTranspose(node) || !IsConstant(node->args[1])) return nullptr;
  const Ints& weight = node->args[1]->type->tensor.shape;  // C, M, taps
  const Ints& result = node->type->tensor.shape;           // N, M, taps
  if (!IsOnePixel(node, Spatial(weight), Spatial(result))) return nullptr;
  int64_t units = 1;
  for (size_t i = 1; i < weight.size(); ++i) units *= weight[i];
  const Expr rows = UntypedReshape(node->args[0], {result[0], weight[0]});
  const Expr columns = ir::Call("transpose", {UntypedReshape(node->args[1], {weight[0], units})},
                                {{"axes", Ints{1, 0}}});
  return UntypedReshape(ir::Call("nn.dense", {rows, columns}), result);
}

}  // namespace hone::passes
