// The threads that work on one index of a launch's grid together
// (docs/decisions/0038-threads-that-share.md).
#ifndef HONE_COMPILER_LOWER_THREADS_H_
#define HONE_COMPILER_LOWER_THREADS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/lower/lowered_launch.h"

namespace hone::lower {

// Makes of a launch's body, which stands inside its grid, the program of each thread: barriers
// between thread loops that depend on each other, a thread's own part of register buffers that are
// allocated around them, and the loops' variables as functions of the thread's number. The first
// thread does what stands beside thread loops and stores to shared memory. Returns that
// number's variable and how many threads there are; nullopt, and the body as it was, where it has
// no thread loops. With `has_warps`, an iteration of tile operations (warps.h) is done by as many
// threads as a warp has, which are neighbours; else by one. kInvalidArgument where the threads
// would not do the same as the loops: another store between thread loops, a part of a register
// buffer that is not one thread's, a condition or a bound around thread loops that is not the same
// for all threads.
absl::StatusOr<std::optional<GridLoop>> LowerThreads(loop::Stmt* body, bool has_warps);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_THREADS_H_
