// The strategy of depthwise convolutions whose rows are filtered, two results at once (FilterRows):
// of three taps a row four products in the place of six.
#ifndef HONE_COMPILER_SCHEDULE_WINDOW_FILTERED_ROWS_H_
#define HONE_COMPILER_SCHEDULE_WINDOW_FILTERED_ROWS_H_

#include <memory>

#include "compiler/schedule/strategy.h"
#include "compiler/schedule/window/view.h"

namespace hone::schedule {

// Whether there are three taps a row, for which the transforms only add: without trials, these are
// worth to be priced.
bool RowFiltersOnlyAdd(const Windowed& w);
bool FiltersRowsByDefault(const Windowed& w, const machine::Machine& machine);

// It filters float32 products of three to five taps a row with constant weights, at every element:
// with more taps the transforms take as many additions as there are products left.
std::unique_ptr<const Plan> OpenFilteredRows(
    const std::shared_ptr<const Problem<Windowed>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_WINDOW_FILTERED_ROWS_H_
