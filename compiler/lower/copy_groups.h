// Copies to shared memory that threads begin and do not wait for, in groups.
#ifndef HONE_COMPILER_LOWER_COPY_GROUPS_H_
#define HONE_COMPILER_LOWER_COPY_GROUPS_H_

#include "compiler/loop/launch_access.h"
#include "compiler/loop/stmt.h"

namespace hone::lower {

struct CopyGroups {
  loop::Stmt body;         // the given one, with groups and with barriers that leave some pending
  loop::BufferSet copied;  // those whose elements may be copied in the background
};
// Takes the program of a block, which still has its thread loops and barriers. Finds the shared
// buffers that PipelineCopies (compiler/schedule) gave slots: a loop of the block reads one slot
// and copies from global memory to another one, which it reads in a later iteration, and an earlier
// loop fills those that are read until then. What an iteration of either loop copies becomes a
// group, and barriers in the loop that reads leave those groups pending that are read later
// (docs/decisions/0042-copies-in-stages.md).
CopyGroups FindCopyGroups(const loop::Stmt& body);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_COPY_GROUPS_H_
