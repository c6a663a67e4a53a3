#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_CACHE_READ_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_CACHE_READ_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Lets the launches that fill `readers` load from a copy of `buffer`, which a launch of its own
// fills, just before the first of them and in its phase:
//   for i { c[i] = f(b[i * 2]) }
//   =>  for b.cached.i0 { b.cached[b.cached.i0] = b[b.cached.i0] }; for i { c[i] = f(b.cached[i *
//   2]) }
// ComputeAt can then move the copy into a loop around all readers, where it holds what they read in
// nearer memory. Returns the copy's stage, workspace "<buffer>.cached", row-major. kInvalidArgument
// without readers; kFailedPrecondition where the buffer has pad lanes, where one does not load it,
// or where a launch from the first to the last of them writes it.
absl::StatusOr<Stage> CacheRead(loop::Nest* nest, const std::string& buffer,
                                const std::vector<Stage>& readers);
absl::StatusOr<Stage> CacheRead(loop::Nest* nest, const std::string& buffer, const Stage& reader);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_CACHE_READ_H_
