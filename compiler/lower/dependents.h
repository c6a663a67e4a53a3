// Decides how launches of a GPU overlap with their neighbours
// (docs/decisions/0047-branches-and-early-starts.md).
#ifndef HONE_COMPILER_LOWER_DEPENDENTS_H_
#define HONE_COMPILER_LOWER_DEPENDENTS_H_

#include "compiler/loop/stmt.h"

namespace hone::lower {

// The first loop of sums in the statement, an outer one before those in it; null if there is none.
// A loop of sums is a serial loop of at least two steps that update an element which is there
// before the loop, as sums, maxima and running means do.
loop::Stmt FirstLoopOfSums(const loop::Stmt& s);

// The statement of a block's or thread's program behind which only an epilogue is left: it is, or
// has in it, the last loop of sums, and something follows it. It is in no loop that repeats it, but
// may be in a branch. Null if there is none.
//
// A launch lets those that depend on it start there. They would find fewer registers and less
// shared memory before the loop, and no time to gain behind the epilogue. Since they wait
// themselves for the launch to end, the place changes no result.
const loop::StmtNode* FindEndOfSums(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_DEPENDENTS_H_
