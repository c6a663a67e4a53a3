// Graphs in QDQ form as integer arithmetic.
#ifndef HONE_COMPILER_PASSES_LEGALIZE_H_
#define HONE_COMPILER_PASSES_LEGALIZE_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Convolutions and products of dequantised operands become qnn.* with sums in int32; a bias in the
// scale of the sums joins them; where the result is quantised again, it is requantised, and relu
// and clip become bounds of integers. Operators that only move or compare elements, between a
// dequantise and a quantise of one scale, work on the integers.
absl::StatusOr<ir::Module> Legalize(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LEGALIZE_H_
