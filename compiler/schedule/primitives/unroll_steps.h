#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_UNROLL_STEPS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_UNROLL_STEPS_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Takes `factor` iterations of a serial loop at once, also where their number depends on data; what
// is left over is no loop, so the processor has fewer branches to foresee:
//   for i in 0..n { body(i) }
//   =>  for i in 0..n / factor { unroll i.u in 0..factor { body(i * factor + i.u) } }
//       if 1 <= n mod factor { body(n - n mod factor); if 2 <= n mod factor { .. } }
// all in `if 0 < n` where n may be negative.
// kInvalidArgument unless `factor` is 2 to 16; kFailedPrecondition where the loop does not count
// from 0, or n may change as it runs.
absl::Status UnrollSteps(loop::Nest* nest, const Loop& loop, int64_t factor);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_UNROLL_STEPS_H_
