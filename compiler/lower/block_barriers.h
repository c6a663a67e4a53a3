// Places the barriers at which the threads that work on one index of a grid wait for each other.
#ifndef HONE_COMPILER_LOWER_BLOCK_BARRIERS_H_
#define HONE_COMPILER_LOWER_BLOCK_BARRIERS_H_

#include "compiler/loop/stmt.h"

namespace hone::lower {

// Puts a barrier before each thread loop that depends on a thread loop which ran since the last
// barrier: it reads or writes a buffer that the earlier loop writes, or writes a buffer that the
// earlier loop reads. Only global and shared buffers count, since threads share no others. A loop
// around thread loops may run any number of times, so they may also depend on thread loops of its
// previous iteration. Shared buffers that are not allocated at the same time may have the same
// memory, so a thread loop that writes a shared buffer also waits for those that accessed a shared
// buffer which is no longer allocated. Slots of a buffer (block_access.h) count as buffers of their
// own where the indices tell them apart.
loop::Stmt WithBlockBarriers(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_BLOCK_BARRIERS_H_
