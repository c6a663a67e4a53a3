// Which products tensor cores are worth having for.
#ifndef HONE_COMPILER_PASSES_TENSOR_CORE_PRODUCTS_H_
#define HONE_COMPILER_PASSES_TENSOR_CORE_PRODUCTS_H_

#include <cstdint>

#include "compiler/ir/expr.h"

namespace hone::passes {

// Whether tiles of tensor cores cover the product. `terms`: how many of its terms are neighbours (a
// convolution's channels, else all). Convolutions must have one group, not be transposed, and have
// output channels that are a multiple of a tile's rows. `product` is a typed call of a dense layer,
// a batch of products or a convolution.
bool FitsTensorCores(const ir::Expr& product, int64_t terms);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_TENSOR_CORE_PRODUCTS_H_
