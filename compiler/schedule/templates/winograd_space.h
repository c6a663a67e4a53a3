// The configs of the Winograd strategies of convolutions.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_SPACE_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_SPACE_H_

#include <optional>
#include <vector>

#include "compiler/schedule/config.h"
#include "compiler/schedule/space.h"
#include "compiler/schedule/templates/conv_view.h"
#include "compiler/schedule/templates/strategy_choice.h"
#include "compiler/schedule/templates/winograd_plan.h"

namespace hone::schedule {

// Value of the knob "filters".
inline constexpr char kFiltersInRegisters[] = "registers";

// The knobs after "strategy", which is one of them. `conv` is WithoutDilation: each candidate asks
// for every knob.
std::optional<Knob> NextWinogradKnob(const Conv& conv, const CpuTarget& target,
                                     const Config& prefix);
// By the analytic model the best of each strategy, with filters transformed beforehand and, where
// that is possible, when they are needed.
std::vector<StrategyChoice> BestWinogradConfigs(const Conv& dilated, const CpuTarget& target);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_SPACE_H_
