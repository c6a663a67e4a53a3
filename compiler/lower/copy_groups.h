// Copies to shared memory that threads begin and do not wait for, in groups.
#ifndef HONE_COMPILER_LOWER_COPY_GROUPS_H_
#define HONE_COMPILER_LOWER_COPY_GROUPS_H_

#include "compiler/loop/launch_access.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

// The program of a block, with its thread loops and barriers, and what is copied in groups.
struct CopyGroups {
  loop::Stmt body;
  loop::BufferSet copied;  // whose elements may be copied in the background
};
// Finds shared buffers that PipelineCopies (compiler/schedule) gave slots: a loop of the block
// reads one slot and copies from global memory to the slot before it, which it reads in a later
// iteration, and a loop before it fills the first slots. What an iteration of either loop copies
// becomes a group, and barriers of the first one leave as many groups pending as are not read yet
// (docs/decisions/0042-copies-in-stages.md).
CopyGroups FindCopyGroups(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_COPY_GROUPS_H_
