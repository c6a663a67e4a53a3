// Lowers thread loops, whose iterations are the threads that work together on one index of a
// launch's grid (docs/decisions/0038-threads-that-share.md).
#ifndef HONE_COMPILER_LOWER_THREADS_H_
#define HONE_COMPILER_LOWER_THREADS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/loop/launch_access.h"
#include "compiler/loop/stmt.h"
#include "compiler/lower/lowered_launch.h"

namespace hone::lower {

// What the threads of a target can do.
struct ThreadTraits {
  bool has_warps = false;             // with tensor cores
  bool copies_in_background = false;  // from global to shared memory
};

// The program that each thread of a block runs.
struct ThreadProgram {
  loop::Stmt body;
  GridLoop thread;         // the variable for the thread's number, and how many threads there are
  loop::BufferSet copied;  // LoweredLaunch::copied
};

// Turns the body of a launch, without the loops of its grid, into the program that each thread
// runs. Barriers separate thread loops that depend on each other (block_barriers.h), a register
// buffer that is allocated around thread loops becomes one thread's part of it
// (thread_registers.h), and the variables of thread loops are computed from the thread's number.
// The first thread alone executes stores to shared memory that are outside of thread loops.
//
// Returns nullopt if the body has no thread loops. With `has_warps`, an iteration that consists of
// tile operations (IsWarpLoop) is done by a warp of threads with consecutive numbers instead of by
// one thread. With `copies_in_background`, threads do not wait for copies that later iterations
// read (copy_groups.h).
//
// kInvalidArgument where the threads would not compute what the loops mean: for a store outside of
// thread loops that is not to shared memory, for a bound or condition outside of thread loops that
// depends on loaded values, and where SplitAmongThreads or ThreadLoopsAt fails.
absl::StatusOr<std::optional<ThreadProgram>> LowerThreads(const loop::Stmt& body,
                                                          const ThreadTraits& traits);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_THREADS_H_
