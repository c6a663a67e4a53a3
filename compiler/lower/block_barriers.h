// Barriers of the threads that work on one index of a grid.
#ifndef HONE_COMPILER_LOWER_BLOCK_BARRIERS_H_
#define HONE_COMPILER_LOWER_BLOCK_BARRIERS_H_

#include "compiler/loop/stmt.h"

namespace hone::lower {

// Puts a barrier before each thread loop that touches memory of several threads which another one
// wrote, or writes what another one read, since the last barrier; loops around them may run any
// number of times. The threads' memory is that of shared and of global buffers. Shared buffers that
// are not there at the same time may have the same memory.
loop::Stmt WithBlockBarriers(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_BLOCK_BARRIERS_H_
