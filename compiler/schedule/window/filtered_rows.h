// The strategy of depthwise convolutions whose rows are filtered, two results at once (FilterRows):
// with three taps in a row, four products take the place of six.
#ifndef HONE_COMPILER_SCHEDULE_WINDOW_FILTERED_ROWS_H_
#define HONE_COMPILER_SCHEDULE_WINDOW_FILTERED_ROWS_H_

#include <memory>

#include "compiler/schedule/strategy.h"
#include "compiler/schedule/window/view.h"

namespace hone::schedule {

// Whether the strategy takes the kernel and its rows have three taps, for which the transforms only
// add. Only then do the ranked configs of the template (Plan::Ranked) include this strategy.
bool RowFiltersOnlyAdd(const Windowed& w);
// Whether the strategy is the default.
bool FiltersRowsByDefault(const Windowed& w, const machine::Machine& machine);

// The strategy takes float32 kernels of stride and dilation one with constant weights and three to
// five taps in a row. With more taps the transforms would take as many additions as there are
// products left.
std::unique_ptr<const Plan> OpenFilteredRows(
    const std::shared_ptr<const Problem<Windowed>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_WINDOW_FILTERED_ROWS_H_
