// The strategy of matrix products for machines with a matrix unit: blocks of sums in tile
// registers.
#ifndef HONE_COMPILER_SCHEDULE_DENSE_TILES_H_
#define HONE_COMPILER_SCHEDULE_DENSE_TILES_H_

#include <memory>

#include "compiler/schedule/product/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

std::unique_ptr<const Plan> OpenDenseTiles(const std::shared_ptr<const Problem<Dense>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_DENSE_TILES_H_
