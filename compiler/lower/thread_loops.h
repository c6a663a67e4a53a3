// Perfectly nested thread loops. Each iteration of such a nest is the work of one thread, or of one
// warp (warps.h).
#ifndef HONE_COMPILER_LOWER_THREAD_LOOPS_H_
#define HONE_COMPILER_LOWER_THREAD_LOOPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

bool IsThreadLoop(const loop::Stmt& s);
bool HasThreadLoops(const loop::Stmt& s);

// A value type.
struct ThreadLoops {
  struct Loop {
    loop::Expr var;
    int64_t min = 0;
    int64_t extent = 1;
    int64_t stride = 1;  // how much the thread's number grows from one iteration to the next
  };
  std::vector<Loop> loops;  // outermost first
  loop::Stmt body;          // the body of the innermost loop
  int64_t count = 1;        // the number of iterations of the whole nest

  // Null if none of the loops has this variable.
  const Loop* Find(const loop::ExprNode* var) const;
};

// The nest of thread loops that begins with `outermost`, which must be a thread loop.
// kInvalidArgument if a bound is not constant, or if the body of the innermost loop contains more
// thread loops.
absl::StatusOr<ThreadLoops> ThreadLoopsAt(const loop::Stmt& outermost);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_THREAD_LOOPS_H_
