// The strategy of convolutions of one tap between row-major tensors: a product of the weights and
// the data as matrices, with pixels as lanes. Other strategies would transpose every tile that they
// write.
#ifndef HONE_COMPILER_SCHEDULE_CONV_PIXELS_H_
#define HONE_COMPILER_SCHEDULE_CONV_PIXELS_H_

#include <memory>

#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

std::unique_ptr<const Plan> OpenConvPixels(const std::shared_ptr<const Problem<Conv>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_PIXELS_H_
