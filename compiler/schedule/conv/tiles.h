// The strategy of convolutions for machines with a matrix unit: blocks of sums in tile registers. A
// tile has the pixels of a piece of a row, a step of the sum the input channels of a block, or
// where there are few the taps of a row.
#ifndef HONE_COMPILER_SCHEDULE_CONV_TILES_H_
#define HONE_COMPILER_SCHEDULE_CONV_TILES_H_

#include <memory>

#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// Channels of a block that fills the rows of a tile, for data to lie in between kernels; 0: there
// are no tiles.
int64_t WideBlock(const Conv& conv, const machine::Machine& machine);
std::unique_ptr<const Plan> OpenConvTiles(const std::shared_ptr<const Problem<Conv>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_TILES_H_
