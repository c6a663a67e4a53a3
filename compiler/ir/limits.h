// Limits that importers, parsers and operators share.
#ifndef HONE_COMPILER_IR_LIMITS_H_
#define HONE_COMPILER_IR_LIMITS_H_

#include <cstddef>

namespace hone::ir {

// The most extents of a tensor: shapes are copied to every node, so that a megabyte of text with
// one of 100,000 would fill any memory.
inline constexpr size_t kMaxRank = 64;

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_LIMITS_H_
