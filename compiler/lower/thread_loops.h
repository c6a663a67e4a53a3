// Thread loops that stand directly in each other: together their iterations are threads.
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
    int64_t stride = 1;  // how much further a thread's number is at the next iteration
  };
  std::vector<Loop> loops;  // outermost first
  loop::Stmt body;          // inside of all of them
  int64_t count = 1;        // of their iterations

  const Loop* Find(const loop::ExprNode* var) const;
};

// `outermost` is a thread loop. kInvalidArgument where a bound is no constant, or thread loops
// stand in the body.
absl::StatusOr<ThreadLoops> ThreadLoopsAt(const loop::Stmt& outermost);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_THREAD_LOOPS_H_
