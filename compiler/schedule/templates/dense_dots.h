// The strategy "dots" of matrix products: lanes along the terms, so that a right operand whose
// terms are neighbours is read once, where it lies. Few rows do not pay for packing it at every
// run.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_DENSE_DOTS_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_DENSE_DOTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/schedule/templates/dense_view.h"
#include "compiler/schedule/templates/strategy_choice.h"

namespace hone::schedule {

bool HasDenseDots(const Dense& dense);
std::optional<Knob> NextDenseDotsKnob(const Dense& dense, const Config& prefix);
// The cycles count what is read from beyond the first cache.
StrategyChoice BestDenseDots(const Dense& dense);
absl::StatusOr<loop::Nest> ScheduleDenseDots(const Task& task, const Dense& dense,
                                             const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_DENSE_DOTS_H_
