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
  // The data that are prefetched are for an iteration of `ahead`, a loop around `loop`, that is
  // `distance` iterations later. In the last iterations of `ahead` the data of the last one are
  // fetched again.
  Loop ahead;
  int64_t distance = 1;
  int locality = 2;  // 3 = L1, 2 = L2, 1 = L3
  // These two spread the lines that `inner`, a loop within `loop`, reads over the iterations of
  // `turn`, a loop around `loop`. Each iteration of `turn` fetches the line for the iteration of
  // `inner` with the same number, modulo the extent of `inner`. Both empty: only the first line is
  // fetched.
  Loop inner;
  Loop turn;
  // A loop within `loop` that advances by one iteration whenever `inner` has gone through all of
  // its iterations.
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
  // Nested loops, outermost first. The innermost one reads or writes the buffer. Their next
  // iteration is the next one of the innermost loop; at the end of that loop it is its first one in
  // the next iteration of the loop around it, and so on. The outermost loop stays at its last
  // iteration. Loops that are not around the prefetches are ignored.
  std::vector<Loop> ahead;
  // How many such iterations ahead the data are fetched. Data of the next iteration would come too
  // late where iterations are short.
  int64_t distance = 1;
  // Nested loops within `ahead`, outermost first. The prefetches are spread over their iterations,
  // and stand at the start of the body of the innermost one. Loops that are not there are ignored.
  std::vector<Loop> turns;
  // The axis of the buffer that is innermost in memory; the lines along it are fetched together.
  size_t line_axis = 0;
  int64_t line_elements = kLineElements;
  int locality = 2;
};

// Prefetches the part of `buffer` that a later iteration of the loops `ahead` reads or writes. The
// prefetches are spread over the loops `turns`, which need not be where the buffer is accessed. The
// buffer is one of the nest, or allocated around those loops:
//   for c { for k { f[k] = w[c * 4 + k] }; for e { S } }
//   =>  for c { ..; for e { for j { prefetch w[min(c + 1, last) * 4 + e * 2 + j] }; S } }
// The lines are fetched in the order in which they lie in memory, since the processor follows such
// a sequence with fetches of its own, and does not where lines are far apart. If the part has a
// whole axis, the index of that axis runs on beyond its end where the next line lies there in
// memory. Indices that share a line are fetched once, so the last line of a part that starts within
// a line may be missed. kFailedPrecondition where the part is not a box whose extents have constant
// bounds, `line_axis` is no axis of the buffer, `line_elements` or `distance` is below 1, or a loop
// of `turns` is not within all of `ahead`.
absl::Status PrefetchRegion(loop::Nest* nest, const std::string& buffer,
                            const PrefetchRegionOptions& options);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PREFETCH_H_
