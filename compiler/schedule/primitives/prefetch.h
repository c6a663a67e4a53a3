#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_PREFETCH_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_PREFETCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

struct PrefetchOptions {
  // The loop around `loop` whose later iteration the data is for, and how many iterations later; in
  // its last iterations the last one's data is fetched again.
  Loop ahead;
  int64_t distance = 1;
  int locality = 2;  // 3 = L1, 2 = L2, 1 = L3
  // One line a time: the loop `inner` within `loop` takes the place that the loop `turn` around it
  // has reached, so that the lines `inner` would read are spread over the iterations of `turn`.
  // Both empty: the first line only.
  Loop inner;
  Loop turn;
  // A loop within `inner` or around it that takes the next place whenever `inner` has taken all.
  Loop also = {};
};

// At the start of each iteration of `loop`, prefetches what the first load of `buffer` in its body
// reads in a later iteration of `options.ahead`:
//   for o { for k { c = c + w[o, k] } }  =>  for o { for k { prefetch w[min(o + 1, last), k]; .. }
//   }
// Values do not change. kFailedPrecondition where the body does not load the buffer or a loop is
// not where it must be.
absl::Status PrefetchAhead(loop::Nest* nest, const Loop& loop, const std::string& buffer,
                           const PrefetchOptions& options);

inline constexpr int64_t kLineElements = 16;  // 32-bit elements of a cache line

struct PrefetchRegionOptions {
  // Nested loops, outermost first, the last of which reads or writes the buffer; those that are not
  // there are passed over. Their next iteration is the next of the last, or where it is at its end
  // the first in the next of the one before; the outermost stays at its last.
  std::vector<Loop> ahead;
  int64_t distance = 1;  // in such iterations: of short ones the next is asked for too late
  // Nested loops within these, outermost first, at the start of whose iterations the prefetches
  // stand, a share in each; those that are not there are passed over too.
  std::vector<Loop> turns;
  size_t line_axis = 0;  // of the buffer: innermost in memory; its lines come together
  int64_t line_elements = kLineElements;
  int locality = 2;
};

// Prefetches what the next iteration of loops, or one further on, reads or writes of `buffer`, a
// share at a time, however far from where that is. The buffer is one of the nest, or allocated
// around the place:
//   for c { for k { f[k] = w[c * 4 + k] }; for e { S } }
//   =>  for c { ..; for e { for j { prefetch w[min(c + 1, last) * 4 + e * 2 + j] }; S } }
// The lines come in the order in which they lie in memory: the processor follows a sequence with
// fetches of its own, which it does not where lines are far apart. An index of an axis that is read
// whole goes on beyond its end where that is the next line. Of indices that share a line one
// counts: a region that starts within a line may lack its last. kFailedPrecondition where that is
// no box of constant extents, there is no such axis, a line has no elements, or a loop of `turns`
// is not within all of `ahead`.
absl::Status PrefetchRegion(loop::Nest* nest, const std::string& buffer,
                            const PrefetchRegionOptions& options);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PREFETCH_H_
