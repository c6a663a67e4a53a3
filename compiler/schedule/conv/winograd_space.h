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

// The value of the knob "filters" for transformed filters that are in registers alone.
inline constexpr char kFiltersInRegisters[] = "registers";

// The next knob of the strategy whose tiles have `tile` results along an axis. `conv` is what
// WithoutDilation answered; callers keep it, since every knob of every candidate is asked for.
std::optional<Knob> NextWinogradKnob(const Conv& conv, int64_t tile, const Config& prefix);
// The best config by the analytic model among those that transform filters beforehand and, where
// that is possible, the best among those that transform them when they are needed.
std::vector<PricedConfig> BestWinogradConfigs(const Conv& dilated, int64_t tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_CONV_WINOGRAD_SPACE_H_
