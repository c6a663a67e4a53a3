// The strategy that takes every matrix product: a register tile of rows of the data by vectors of
// output units. The weights are packed, so that each step of the sum reads whole lines in order, or
// read in place where their units are neighbours anyway. A product of one row has many vectors of
// accumulators and one stream of weights.
#ifndef HONE_COMPILER_SCHEDULE_DENSE_DIRECT_H_
#define HONE_COMPILER_SCHEDULE_DENSE_DIRECT_H_

#include <memory>

#include "compiler/schedule/product/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

std::unique_ptr<const Plan> OpenDenseDirect(const std::shared_ptr<const Problem<Dense>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_DENSE_DIRECT_H_
