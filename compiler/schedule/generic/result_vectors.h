// Neighbouring results that a thread of a GPU computes and stores at once, as one vector.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_RESULT_VECTORS_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_RESULT_VECTORS_H_

#include <cstdint>

#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// How many results of the stage, which is row-major, are whole and aligned vectors along its last
// axis: the largest power of two that divides a row and `extent`, whose results have 16 bytes at
// most and are at most eight. 1: none.
int64_t ResultsAtOnce(const loop::Nest& nest, const Stage& results, int64_t extent);

// Vectorises launches of the run phase that compute each result from elements at linear indices,
// where neighbouring results need neighbours, or the same, and `fewest_threads` are left. Launches
// of another form, such as those that are scheduled already, stay as they are. For targets with
// HasVectorAccess.
void StoreVectors(Sequence* s, int64_t fewest_threads);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_RESULT_VECTORS_H_
