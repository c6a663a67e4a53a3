// What is asked of strategies of depthwise convolutions from outside.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_CHANNELWISE_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_CHANNELWISE_H_

#include "compiler/ops/lower.h"

namespace hone::schedule {

// ToomCook::Amplification of a depthwise convolution whose rows are filtered two results at once.
double FilteredRowsAmplification(const ops::KernelDefinition& def);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_CHANNELWISE_H_
