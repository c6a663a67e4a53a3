// Whether a stage is computed where it is read, or stored beforehand.
#ifndef HONE_COMPILER_SCHEDULE_REWRITE_COMPUTE_OR_STORE_H_
#define HONE_COMPILER_SCHEDULE_REWRITE_COMPUTE_OR_STORE_H_

#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// How often the statement runs that runs most often; a loop of unknown extent counts as one
// iteration.
double MostIterations(const loop::Nest& nest);

// Applies ComputeAt(stage, loop) to a stage that the last launch reads, if that is possible and
// computes at most `most_elements` over all iterations. Else the stage stays a launch, and the
// answer is false. The limit is there since ComputeAt computes a whole region in every iteration.
// Readers that need parts of a stage far apart (two shifts of a map, a border that is reflected,
// positions that a table holds) would get all that lies between them too, and what several
// iterations read is computed in each.
bool ComputeUnlessMore(Sequence* s, const Stage& stage, const Loop& loop, double most_elements);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_COMPUTE_OR_STORE_H_
