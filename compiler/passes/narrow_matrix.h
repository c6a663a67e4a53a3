// Recovers the narrow integers and scales that a constant matrix of floats was stored as.
#ifndef HONE_COMPILER_PASSES_NARROW_MATRIX_H_
#define HONE_COMPILER_PASSES_NARROW_MATRIX_H_

#include <cstdint>
#include <optional>

#include "compiler/passes/known_values.h"

namespace hone::passes {

// What nn.scaled_dense multiplies the integers by: floats, or the data in two or three digits of 8
// bits.
enum class NarrowProducts { kFloats = 0, kTwoDigits = 2, kThreeDigits = 3 };

// matrix[n, k] = scales[n, b] * (integer[n, k] + centre) + offsets[n, b] for k in block b, as
// nn.scaled_dense takes them.
struct NarrowMatrix {
  NarrowProducts products = NarrowProducts::kFloats;
  int64_t bits = 8;  // or 4
  int64_t centre = 0;
  ir::Expr integers;
  ir::Expr scales;
  ir::Expr offsets;  // null if there are none
};

// The narrow form of `e`, an expression of constants that is a float32 matrix (n, k). The
// expression must cast or dequantise integers, perhaps subtract a zero point, and multiply by
// scales; operators that move elements may stand between and after these. nullopt if it is made in
// another way, if a block with one scale and zero point has fewer than kFewestTerms terms or, with
// digits, no multiple of 8, or if the integers of a block differ by more than 255.
inline constexpr int64_t kFewestTerms = 16;
std::optional<NarrowMatrix> NarrowMatrixOf(const ir::Expr& e, NarrowProducts products,
                                           const UsedOnce& used_once, KnownValues* values);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_NARROW_MATRIX_H_
