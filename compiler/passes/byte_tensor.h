// Operations on constant tensors of bytes, for the passes on quantised graphs.
#ifndef HONE_COMPILER_PASSES_BYTE_TENSOR_H_
#define HONE_COMPILER_PASSES_BYTE_TENSOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::passes {

// The value of a typed expression of constants, as a constant; other expressions are returned
// unchanged.
ir::Expr EvaluatedConstant(const ir::Expr& e);
// The integers that an expression of constants evaluates to; nullopt if they are not known, or are
// more than `most_elements`.
std::optional<std::vector<int64_t>> KnownInts(const ir::Expr& e, int64_t most_elements = 1 << 16);
// Whether `e` is known to be 0 in all elements.
bool IsKnownZero(const ir::Expr& e);

ir::Expr VectorOfInt32(const std::vector<int64_t>& values);
ir::Expr OnesOfInt8(const std::vector<int64_t>& shape);

// In the functions below `bytes` is a kConstant of int8 or uint8; for anything else the result is
// null. FlipSigns returns the tensor in the other of the two types, with 128 added to or subtracted
// from each element.
ir::Expr FlipSigns(const ir::Expr& bytes);
// Sums over the last `summed` axes, as int32.
ir::Expr TrailingSums(const ir::Expr& bytes, size_t summed);
// The elements minus `zero`, as int8; null if a difference does not fit. `zero` has one number, or
// one for each index of axis 0.
ir::Expr Centred(const ir::Expr& bytes, const std::vector<int64_t>& zero);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_BYTE_TENSOR_H_
