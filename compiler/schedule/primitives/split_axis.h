#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_SPLIT_AXIS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_SPLIT_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// Makes two axes of one of the row-major `buffer`, which is allocated in a launch: of blocks, the
// last of which may not be full, and of the places in one.
//   alloc b[10] { for o, i { b[o * 4 + i] = .. } }
//   =>  alloc b[3, 4] { for o, i { b[o, i] = .. } }
// So each of the loops that an axis was split into has an axis of its own, as the threads that
// share a register buffer need it. kNotFound where no launch allocates the buffer,
// kInvalidArgument where there is no such axis or `factor` is below 1, kFailedPrecondition where
// the buffer is not row-major or is prefetched.
absl::Status SplitAxis(loop::Nest* nest, const std::string& buffer, size_t axis, int64_t factor);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_SPLIT_AXIS_H_
