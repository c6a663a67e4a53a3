#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_SET_LAYOUT_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_SET_LAYOUT_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// Gives a global buffer another layout; indices stay logical. Where an axis gets pad lanes and a
// launch of this nest writes the buffer, the stage's loop runs over them too and stores zero:
//   for i in 0..10 {b[i] = f(i)}  =>  for i in 0..16 {b[i] = select(i < 10, f(i), 0)}
// kFailedPrecondition where that stage is no single store below its loops, and where the buffer has
// pad lanes already.
absl::Status SetLayout(loop::Nest* nest, const std::string& buffer, const Layout& layout);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_SET_LAYOUT_H_
