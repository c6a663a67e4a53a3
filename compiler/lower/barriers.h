// Where launches wait for those before them.
#ifndef HONE_COMPILER_LOWER_BARRIERS_H_
#define HONE_COMPILER_LOWER_BARRIERS_H_

#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::lower {

// Whether each launch, in execution order, reads or overwrites what one since the last barrier
// writes, or overwrites what one reads. Prepare and run launches are never in one call.
std::vector<bool> BarriersBefore(const std::vector<loop::Launch>& launches);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_BARRIERS_H_
