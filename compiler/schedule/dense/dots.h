// The strategy of matrix products by dot products: lanes lie along the terms, so that a right
// operand whose terms are neighbours is read once, where it lies. Where there are few rows, it
// would not pay to pack it at every run.
#ifndef HONE_COMPILER_SCHEDULE_DENSE_DOTS_H_
#define HONE_COMPILER_SCHEDULE_DENSE_DOTS_H_

#include <memory>

#include "compiler/schedule/product/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// Whether the strategy takes the product.
bool HasDenseDots(const Dense& dense);
// The cycles of its configs count what is read from beyond the first cache.
std::unique_ptr<const Plan> OpenDenseDots(const std::shared_ptr<const Problem<Dense>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_DENSE_DOTS_H_
