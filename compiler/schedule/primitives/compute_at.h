#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_COMPUTE_AT_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_COMPUTE_AT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

struct ComputeAtOptions {
  loop::Scope scope = loop::Scope::kRegister;  // any but kGlobal
  // Rounds the extent of a dimension up to a multiple, so that whole vectors are computed. What
  // is read to compute the additional elements must exist. Empty: 1 for all.
  std::vector<int64_t> align;
  std::string layout;  // of the new buffer; empty: row-major
  // Elements of each dimension that are allocated and not used, so that planes do not lie a power
  // of two apart, where they would share cache sets. Empty: none.
  std::vector<int64_t> slack = {};
};

// Moves the stage, which fills a workspace or a prepared buffer, into the body of `loop`, which
// holds all readers of that buffer. There it computes just the region that one iteration reads,
// into a buffer of its own that has the size of that region and the name of the old one.
//   for i { b[i] = f(i) }; for o, j { c[..] = g(b[o * 4 + j]) }
//   =>  for o { alloc b[4] { for i in 0..4 { b[i] = f(o * 4 + i) }; for j { c[..] = g(b[j]) } } }
// Where readers use only every n-th element (b[o + j * 2]), only these are computed.
// kFailedPrecondition where the buffer is of another kind, readers are elsewhere, the region has no
// constant bound, or what it would read is not known to exist.
absl::Status ComputeAt(loop::Nest* nest, const Stage& stage, const Loop& loop,
                       const ComputeAtOptions& options = {});

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_COMPUTE_AT_H_
