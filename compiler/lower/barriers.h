// Decides which launches need a barrier before them.
#ifndef HONE_COMPILER_LOWER_BARRIERS_H_
#define HONE_COMPILER_LOWER_BARRIERS_H_

#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::lower {

// For each launch, in execution order: whether it reads or overwrites what a launch since the last
// barrier writes, or overwrites what such a launch reads. Prepare and run launches never run
// together, so none of one kind waits for one of the other.
std::vector<bool> BarriersBefore(const std::vector<loop::Launch>& launches);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_BARRIERS_H_
