// Depthwise convolutions whose rows are filtered, two results at once (FilterRows): of three taps a
// row four products in the place of six.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_FILTERED_ROWS_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_FILTERED_ROWS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/schedule/space.h"
#include "compiler/schedule/template.h"
#include "compiler/schedule/templates/windowed.h"

namespace hone::schedule {

// Value of the knob "strategy".
inline constexpr char kFilteredRows[] = "winograd2";

// Float32 products of three to five taps a row with constant weights, at every element: with more
// taps the transforms take as many additions as there are products left.
bool CanFilterRows(const Windowed& w);
// Of three taps a row the transforms only add: without trials, these are worth to be priced.
bool RowFiltersOnlyAdd(const Windowed& w);
bool FiltersRowsByDefault(const Windowed& w, const CpuTarget& target);

// The knobs behind "strategy"; nullopt once all are chosen.
std::optional<Knob> NextFilteredRowsKnob(const Windowed& w, const Config& prefix);
Config DefaultFilteredRows(const Windowed& w, int64_t threads);
absl::StatusOr<loop::Nest> ScheduleFilteredRows(const Task& task, const Windowed& w,
                                                const Config& config);

// ToomCook::Amplification of a depthwise convolution by this strategy.
double FilteredRowsAmplification(const ops::KernelDefinition& def);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_FILTERED_ROWS_H_
