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
// `slots_behind`: so many slots of previous iterations are not copied to yet, because instructions
// may be under way that read them; copies are made so many fewer iterations ahead, but at least
// one.
// kInvalidArgument for fewer than two slots, without copies, or where slots behind leave none;
// kFailedPrecondition where the loop is not serial or has a bound that is no constant, or b is not
// allocated in its body outside of other loops and conditions, is filled by more than one statement
// or by one that reads b or stores to another buffer, or the loop stores to what the copy reads.
absl::Status PipelineCopies(loop::Nest* nest, const Loop& loop, const std::vector<Stage>& copies,
                            int64_t slots, int64_t slots_behind = 0);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PIPELINE_COPIES_H_
