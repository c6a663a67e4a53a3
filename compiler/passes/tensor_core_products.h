// Which products tensor cores are worth having for.
#ifndef HONE_COMPILER_PASSES_TENSOR_CORE_PRODUCTS_H_
#define HONE_COMPILER_PASSES_TENSOR_CORE_PRODUCTS_H_

#include <cstdint>

#include "compiler/ir/expr.h"

namespace hone::passes {

// Whether tiles of tensor cores cover a product with so many neighbouring terms, which are the
// channels of a convolution and the terms of other products: one of matrices, or a convolution of
// one group that is not transposed, whose tiles are of output channels, which they divide, and of
// columns. `product` is a typed call of a dense layer, a batch of products or a convolution.
bool FitsTensorCores(const ir::Expr& product, int64_t terms);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_TENSOR_CORE_PRODUCTS_H_
