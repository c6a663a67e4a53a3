#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_PREFETCH_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_PREFETCH_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

struct PrefetchOptions {
  // The loop around `loop` whose later iteration the data is for, and how many iterations later; in
  // its last iterations the last one's data is fetched again.
  std::string ahead;
  int64_t distance = 1;
  int locality = 2;  // 3 = L1, 2 = L2, 1 = L3
  // One line a time: the loop `inner` within `loop` takes the place that the loop `turn` around it
  // has reached, so that the lines `inner` would read are spread over the iterations of `turn`.
  // Both empty: the first line only.
  std::string inner;
  std::string turn;
  // A loop within `inner` or around it that takes the next place whenever `inner` has taken all.
  std::string also = {};
};

// At the start of each iteration of `loop`, prefetches what the first load of `buffer` in its body
// reads in a later iteration of `options.ahead`:
//   for o { for k { c = c + w[o, k] } }  =>  for o { for k { prefetch w[min(o + 1, last), k]; .. }
//   }
// Values do not change. kFailedPrecondition where the body does not load the buffer or a loop is
// not where it must be.
absl::Status PrefetchAhead(loop::Nest* nest, const std::string& loop, const std::string& buffer,
                           const PrefetchOptions& options);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PREFETCH_H_
