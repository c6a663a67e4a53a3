// Gives a grid to the launches that have none yet.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_GRID_LAUNCHES_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_GRID_LAUNCHES_H_

#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// Makes the perfectly nested outer loops of every launch parallel, from the outermost one inwards,
// up to the first whose iterations depend on each other. Threads side by side then write neighbours
// in memory, since a naive nest writes in the order of memory. Before that, each long row that is
// still to be reduced gets a few threads, which load neighbours in memory.
void MakeGrids(Sequence* s);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_GRID_LAUNCHES_H_
