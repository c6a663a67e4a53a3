// The grid of launches that nothing else gave one.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_GRID_LAUNCHES_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_GRID_LAUNCHES_H_

#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// Makes every outer loop parallel that keeps no order: of each launch those that stand directly in
// each other, from the outermost on. Threads side by side write neighbours in memory, for naive
// nests go through what they write in its order. Long rows of what is left to reduce get a few
// threads each before that, so that these load neighbours.
void MakeGrids(Sequence* s);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_GRID_LAUNCHES_H_
