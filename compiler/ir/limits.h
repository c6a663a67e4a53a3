// Limits that importers, parsers and operators share.
#ifndef HONE_COMPILER_IR_LIMITS_H_
#define HONE_COMPILER_IR_LIMITS_H_

#include <cstddef>

#include "runtime/layout.h"

namespace hone::ir {

// The highest rank of a tensor, which is the number of letters that layouts have for axes. It is
// checked wherever a type is made: by the parsers, the importers and the inference of types.
inline constexpr size_t kMaxRank = Layout::kMaxRank;

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_LIMITS_H_
