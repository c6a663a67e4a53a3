// The strategy of convolutions for machines with a matrix unit: blocks of sums in tile registers. A
// tile has the pixels of a piece of a row. A step of the sum has the input channels of a block or,
// if there are few channels, the taps of a row.
#ifndef HONE_COMPILER_SCHEDULE_CONV_TILES_H_
#define HONE_COMPILER_SCHEDULE_CONV_TILES_H_

#include <memory>

#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// How many channels the blocks have that fill the rows of a tile, for layouts of data between
// kernels; 0: the strategy does not take the convolution.
int64_t WideBlock(const Conv& conv, const machine::Machine& machine);
std::unique_ptr<const Plan> OpenConvTiles(const std::shared_ptr<const Problem<Conv>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_TILES_H_
