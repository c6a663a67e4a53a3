// Constant tensors of bytes, as the passes for quantised graphs need them.
#ifndef HONE_COMPILER_PASSES_BYTE_TENSOR_H_
#define HONE_COMPILER_PASSES_BYTE_TENSOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::passes {

// The constant that a typed expression of constants stands for; other expressions as they are.
ir::Expr EvaluatedConstant(const ir::Expr& e);
// The integers of a small expression of constants; nullopt where they are not known, or are more.
std::optional<std::vector<int64_t>> KnownInts(const ir::Expr& e, int64_t most_elements = 1 << 16);
// Whether all of them are 0.
bool IsKnownZero(const ir::Expr& e);

ir::Expr VectorOfInt32(const std::vector<int64_t>& values);
ir::Expr OnesOfInt8(const std::vector<int64_t>& shape);

// `bytes` is a kConstant of int8 or uint8; where it is none, or is another, the result is null.
// The other of the two types, each element 128 more or less.
ir::Expr FlipSigns(const ir::Expr& bytes);
// Sums over the last `summed` axes, as int32.
ir::Expr TrailingSums(const ir::Expr& bytes, size_t summed);
// Elements less `zero`, one number or one for each index of axis 0, as int8; null where they do not
// fit.
ir::Expr Centred(const ir::Expr& bytes, const std::vector<int64_t>& zero);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_BYTE_TENSOR_H_
