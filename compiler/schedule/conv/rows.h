// The strategy of convolutions with few output channels and a row-major result: lanes are
// neighbours along the width, where other strategies would multiply pad lanes. A register tile of
// vectors by rows by output channels; weights are broadcast.
#ifndef HONE_COMPILER_SCHEDULE_CONV_ROWS_H_
#define HONE_COMPILER_SCHEDULE_CONV_ROWS_H_

#include <memory>

#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

std::unique_ptr<const Plan> OpenConvRows(const std::shared_ptr<const Problem<Conv>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_ROWS_H_
