// The direct strategy of convolutions: a register tile of output channels (whole vectors) by output
// pixels, accumulated over input channels and taps; weights packed so that the innermost loop reads
// them in order; padding by a copy of the data with zeros around it, or by tiles at the border that
// leave out what falls outside.
#ifndef HONE_COMPILER_SCHEDULE_CONV_DIRECT_H_
#define HONE_COMPILER_SCHEDULE_CONV_DIRECT_H_

#include <memory>

#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

std::unique_ptr<const Plan> OpenConvDirect(const std::shared_ptr<const Problem<Conv>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_DIRECT_H_
