// Splits buffers that are allocated around thread loops and not shared, so that each thread has a
// part.
#ifndef HONE_COMPILER_LOWER_THREAD_REGISTERS_H_
#define HONE_COMPILER_LOWER_THREAD_REGISTERS_H_

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

// Replaces each such buffer by the part of one thread, and the indices of its accesses by indices
// into that part. For example, %sums[u * 32 + t * 4 + v] becomes %sums[u * 4 + v] if t is the
// variable of a thread loop of 8 iterations and v is less than 4.
//
// Every access must stand inside thread loops, and its indices must tell which thread's part it is
// in. In each dimension a thread owns runs of neighbouring elements. The coefficients of the thread
// loops' variables are multiples of the length of a run. The rest of the index stays within a run,
// apart from terms that step from one run of a thread to its next. kInvalidArgument, which names
// the buffer and the access, if an access has another form or if several threads share an element;
// also where ThreadLoopsAt fails.
absl::StatusOr<loop::Stmt> SplitAmongThreads(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_THREAD_REGISTERS_H_
