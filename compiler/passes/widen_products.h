// Computes products of 16-bit floats in float32, if the target is no slower at that.
#ifndef HONE_COMPILER_PASSES_WIDEN_PRODUCTS_H_
#define HONE_COMPILER_PASSES_WIDEN_PRODUCTS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Convolutions, matrix products and pools of float16 become the same operators on operands cast to
// float32, followed by a cast of the result. So do products of bfloat16, if the target takes no
// longer for float32, because of its instructions or because Winograd's algorithm needs fewer
// products. Unless numerics are strict, elementwise operators on the result are moved before that
// cast. Products of bfloat16 whose right operand is used only a few times stay as they are, because
// reading it takes longer than multiplying.
absl::StatusOr<ir::Module> WidenProducts(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_WIDEN_PRODUCTS_H_
