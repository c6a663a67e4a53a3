#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_PIPELINE_COPIES_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_PIPELINE_COPIES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Lets each iteration of a loop copy what a later one reads. With three slots:
//   for k in 0..n { alloc b[m] { for i { b[i] = f(k, i) }; g(b) } }
//   =>  alloc b[3, m] {
//       for s in 0..2 { for i { b[s, i] = f(s, i) } };
//       for k in 0..n {
//         if k + 2 < n { for i { b[(k + 2) mod 3, i] = f(k + 2, i) } };
//         g(b[k mod 3]) } }
// A device that copies in the background then computes while two copies are under way
// (docs/decisions/0042-copies-in-stages.md). The condition stands inside of thread loops. `copies`
// are the stages of one or more such b, which ComputeAt has put there. A loop of fewer
// iterations gets only one slot for each of them, and one of a single iteration stays as it is.
// `slots_behind`: an iteration copies to no slot that so many iterations before it have read,
// because instructions that read it may still be under way; copies are made so many fewer
// iterations ahead. kInvalidArgument for fewer than two slots beside those behind, or without
// copies; kFailedPrecondition where the loop is not serial or has a bound that is no constant, or b
// is not allocated in its body outside of other loops and conditions, is filled by more than one
// statement or by one that reads b or stores to another buffer, or the loop stores to what the copy
// reads.
absl::Status PipelineCopies(loop::Nest* nest, const Loop& loop, const std::vector<Stage>& copies,
                            int64_t slots, int64_t slots_behind = 0);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PIPELINE_COPIES_H_
