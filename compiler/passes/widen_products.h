// Products of 16-bit floats in float32, where targets multiply that no slower.
#ifndef HONE_COMPILER_PASSES_WIDEN_PRODUCTS_H_
#define HONE_COMPILER_PASSES_WIDEN_PRODUCTS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Convolutions, products of matrices and pools of float16, and products of bfloat16 where the
// target makes those of float32 in no more time (by its instructions; of fewer products, where
// Winograd's algorithm serves), become those of their operands in float32 and a cast of the result.
// Unless numerics are strict, what is computed on the result element by element is computed before
// that cast. Products of bfloat16 whose right operand is used a few times only stay as narrow as
// they are: reading it takes longer than multiplying.
absl::StatusOr<ir::Module> WidenProducts(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_WIDEN_PRODUCTS_H_
