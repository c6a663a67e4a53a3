// The strategy "rows" of convolutions with few output channels and a row-major result: lanes are
// neighbours along the width, where other strategies would multiply pad lanes. A register tile of
// vectors by rows by output channels; weights are broadcast.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_ROWS_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_ROWS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/templates/conv_view.h"
#include "compiler/schedule/templates/strategy_choice.h"

namespace hone::schedule {

bool HasConvRows(const Conv& conv);
// The next of the strategy's own; nullopt: all are chosen.
std::optional<Knob> NextConvRowsKnob(const Conv& conv, const Config& prefix);
// By the analytic model.
StrategyChoice BestConvRows(const Conv& conv);
absl::StatusOr<loop::Nest> ScheduleConvRows(const Task& task, const Conv& conv,
                                            const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_ROWS_H_
