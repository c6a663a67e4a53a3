// Turns graphs in QDQ form (quantise and dequantise around operators on floats) into integer
// arithmetic.
#ifndef HONE_COMPILER_PASSES_LEGALIZE_H_
#define HONE_COMPILER_PASSES_LEGALIZE_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Convolutions and products of dequantised operands become qnn.* operators with sums in int32, to
// which a bias of the same scale is added. If the result is quantised again, it is requantised
// directly, and relu and clip between become integer bounds. Operators that only move or compare
// elements work on the integers if they stand between a dequantise and a quantise of the same
// scale.
absl::StatusOr<ir::Module> Legalize(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LEGALIZE_H_
