#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_CACHE_READ_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_CACHE_READ_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Lets the launch that fills `reader` load from a copy of `buffer`, which a run launch of its own
// before it fills:
//   for i { c[i] = f(b[i * 2]) }
//   =>  for b.cached.i0 { b.cached[b.cached.i0] = b[b.cached.i0] }; for i { c[i] = f(b.cached[i *
//   2]) }
// so that the copy can be computed at one of the reader's loops, which holds what it reads in
// memory that is nearer. Returns the copy's stage, workspace "<buffer>.cached", row-major.
// kFailedPrecondition where the reader does not load the buffer, or writes it.
absl::StatusOr<Stage> CacheRead(loop::Nest* nest, const std::string& buffer, const Stage& reader);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_CACHE_READ_H_
