// The configs of the Winograd strategies of convolutions.
#ifndef HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_SPACE_H_
#define HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_SPACE_H_

#include <optional>
#include <vector>

#include "compiler/schedule/config.h"
#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/conv/winograd_plan.h"
#include "compiler/schedule/plan.h"
#include "compiler/schedule/space.h"

namespace hone::schedule {

// Value of the knob "filters".
inline constexpr char kFiltersInRegisters[] = "registers";

// The knobs of tiles of so many results. `conv` is WithoutDilation: each candidate asks for every
// knob.
std::optional<Knob> NextWinogradKnob(const Conv& conv, int64_t tile, const Config& prefix);
// By the analytic model the best, with filters transformed beforehand and, where that is possible,
// when they are needed.
std::vector<PricedConfig> BestWinogradConfigs(const Conv& dilated, int64_t tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_SPACE_H_
