// Whether a stage is computed where it is read, or stored beforehand.
#ifndef HONE_COMPILER_SCHEDULE_REWRITE_COMPUTE_OR_STORE_H_
#define HONE_COMPILER_SCHEDULE_REWRITE_COMPUTE_OR_STORE_H_

#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// Iterations of the innermost statement that has most; loops of unknown extent count once.
double MostIterations(const loop::Nest& nest);

// ComputeAt(stage, loop) of a stage that the last launch reads, if that is possible and computes at
// most so many elements over all iterations; else the stage stays a launch, and the answer is
// false. Readers that need parts of a stage far apart (two shifts of a map, a border that is
// reflected, positions that a table holds) would get all that is between them too, in every
// iteration. What all iterations share is computed in each, which is no more than they compute
// themselves.
bool ComputeUnlessMore(Sequence* s, const Stage& stage, const Loop& loop, double most_elements);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_COMPUTE_OR_STORE_H_
