#include "compiler/passes/combine_parallel_dense.h"

#include "compiler/passes/parallel_siblings.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {

absl::StatusOr<ir::Module> CombineParallelDense(const ir::Module& module, const PassContext&) {
  constexpr int kMinSiblings = 3;
  const Stackable dense{.op = "nn.dense",
                        .channel_axis = 1,
                        .is_stackable = [](const ir::ExprNode&) { return true; }};
  return MapFunctions(module, [&](const ir::Expr& function) {
    return CombineSiblings(function, dense, kMinSiblings);
  });
}

}  // namespace hone::passes
