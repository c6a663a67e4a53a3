// The configs of the Winograd strategies of convolutions: F(2x2, 3x3) and F(4x4, 3x3).
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_SPACE_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_SPACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/config.h"
#include "compiler/schedule/space.h"
#include "compiler/schedule/templates/conv_view.h"

namespace hone::schedule {

// The numbers of a strategy.
struct WinogradPlan {
  int64_t tile = 0;               // results of a tile, in each direction
  int64_t products = 0;           // positions, in each direction
  int64_t rows = 0, columns = 0;  // tiles
  // Of the depth: from one result, and from one tap, to the next.
  int64_t depth_step = 1, tap_step = 1;

  // Slices of the data that so many of the result are made of.
  int64_t Slices(const Conv& conv, int64_t depth) const {
    return (depth - 1) * depth_step + (conv.taps_d - 1) * tap_step + 1;
  }
};
WinogradPlan PlanOf(const Conv& conv, const std::string& strategy);

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

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_SPACE_H_
