// Neighbouring results that a thread computes and stores at once, as one vector of 16 bytes.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_RESULT_VECTORS_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_RESULT_VECTORS_H_

#include <cstdint>

#include "compiler/schedule/primitives/stage.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// The most that a thread of a GPU loads or stores by one instruction.
inline constexpr int64_t kMostVectorBytes = 16;

// How many results of the stage, which is row-major, are whole and aligned vectors along its last
// axis: the largest power of two that divides a row and `extent`, whose results have 16 bytes at
// most and are at most eight. 1: none.
int64_t ResultsAtOnce(const loop::Nest& nest, const Stage& results, int64_t extent);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_RESULT_VECTORS_H_
