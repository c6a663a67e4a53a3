#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_SPLIT_AXIS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_SPLIT_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// Splits an axis of the row-major `buffer`, which is allocated in a launch, into two. The first
// counts blocks of `factor` elements, the last of which may not be full, and the second the places
// in a block.
//   alloc b[10] { for o, i { b[o * 4 + i] = .. } }
//   =>  alloc b[3, 4] { for o, i { b[o, i] = .. } }
// So each of the two loops that an axis was split into has an axis of its own, which a register
// buffer that is shared by threads needs. kNotFound where no launch allocates the buffer,
// kInvalidArgument where there is no such axis or `factor` is below 1, kFailedPrecondition where
// the buffer is not row-major or is prefetched.
absl::Status SplitAxis(loop::Nest* nest, const std::string& buffer, size_t axis, int64_t factor);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_SPLIT_AXIS_H_
