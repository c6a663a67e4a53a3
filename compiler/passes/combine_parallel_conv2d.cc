#include "compiler/passes/combine_parallel_conv2d.h"

#include "compiler/ops/attrs.h"
#include "compiler/passes/parallel_siblings.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {

absl::StatusOr<ir::Module> CombineParallelConv2D(const ir::Module& module, const PassContext&) {
  constexpr int kMinSiblings = 3;
  const Stackable conv2d{
      .op = "nn.conv2d", .channel_axis = 1, .is_stackable = [](const ir::ExprNode& call) {
        return ops::IntAttr(call.attrs, "groups", 1) == 1;
      }};
  return MapFunctions(module, [&](const ir::Expr& function) {
    return CombineSiblings(function, conv2d, kMinSiblings);
  });
}

}  // namespace hone::passes
