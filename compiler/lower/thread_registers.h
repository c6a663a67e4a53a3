// Register buffers that are allocated around thread loops: each thread has a part of its own.
#ifndef HONE_COMPILER_LOWER_THREAD_REGISTERS_H_
#define HONE_COMPILER_LOWER_THREAD_REGISTERS_H_

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

// Replaces each such buffer by the part of one thread, and its indices by those in the part. All
// accesses say whose part they are in by the variables of thread loops. In every dimension a thread
// has runs of neighbouring elements: the variables' coefficients are multiples of a run's length,
// and what is added to them stays below that, or goes by steps from one of the thread's runs to its
// next. kInvalidArgument names the buffer and the access that does not, or that shares an element
// with another thread.
absl::StatusOr<loop::Stmt> SplitAmongThreads(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_THREAD_REGISTERS_H_
