// A constant matrix of floats as narrow integers and the scales that they were stored with.
#ifndef HONE_COMPILER_PASSES_NARROW_MATRIX_H_
#define HONE_COMPILER_PASSES_NARROW_MATRIX_H_

#include <cstdint>
#include <optional>

#include "compiler/passes/known_values.h"

namespace hone::passes {

// What the products are of: floats, or so many digits (of nn.scaled_dense).
enum class NarrowProducts { kFloats = 0, kTwoDigits = 2, kThreeDigits = 3 };

// matrix[n, k] = scales[n, b] * (integer[n, k] + centre) + offsets[n, b] for k in block b, as
// nn.scaled_dense takes them.
struct NarrowMatrix {
  NarrowProducts products = NarrowProducts::kFloats;
  int64_t bits = 8;  // or 4
  int64_t centre = 0;
  ir::Expr integers;
  ir::Expr scales;
  ir::Expr offsets;  // null: there are none
};

// The float32 matrix (n, k) `e`, an expression of constants, in narrow form, where it is made of
// integers that are cast or dequantised, perhaps less a zero point, and multiplied, with moves of
// elements between and behind; nullopt where it is made otherwise, where scales or zero points go
// by less than kFewestTerms terms or, with digits, by no multiple of 8, or where a block's integers
// are further apart than 255.
inline constexpr int64_t kFewestTerms = 16;
std::optional<NarrowMatrix> NarrowMatrixOf(const ir::Expr& e, NarrowProducts products,
                                           const UsedOnce& used_once, KnownValues* values);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_NARROW_MATRIX_H_
