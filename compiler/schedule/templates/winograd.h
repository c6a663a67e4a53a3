// The Winograd strategies of conv2d: F(2x2, 3x3) and F(4x4, 3x3).
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/config.h"
#include "compiler/schedule/space.h"
#include "compiler/schedule/templates/conv_view.h"

namespace hone::schedule {

// The names of those the convolution can be computed by; empty for most.
std::vector<std::string> WinogradStrategies(const Conv& conv);
bool IsWinograd(const std::string& strategy);

// The knobs after "strategy", which is one of them.
std::optional<Knob> NextWinogradKnob(const Conv& conv, const Target& target, const Config& prefix);
// The config with the least cycles by the analytic model; nullopt where there is no such strategy.
struct WinogradChoice {
  Config config;
  double cycles = 0;  // from the first core's start to the last one's end
};
std::optional<WinogradChoice> BestWinograd(const Conv& conv, const Target& target);

// A block of tiles at a time, in the scratch of a thread: the data of all its channels transformed,
// then for each group of output channels the products, a matrix product for each of the (tile + 2)
// squared positions, and from them the results.
absl::StatusOr<loop::Nest> ScheduleWinograd(const Task& task, const Conv& conv,
                                            const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_H_
