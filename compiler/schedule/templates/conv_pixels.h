// The strategy "pixels" of convolutions of one tap between row-major tensors: the product of the
// weights and the data as matrices, pixels as lanes, where other strategies would turn every tile
// they write.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_PIXELS_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_PIXELS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/templates/conv_view.h"

namespace hone::schedule {

bool HasConvPixels(const Conv& conv);
// The next of the strategy's own; nullopt: all are chosen.
std::optional<Knob> NextConvPixelsKnob(const Conv& conv, const Config& prefix);
// By the analytic model; faster than others between such tensors.
Config BestConvPixels(const Conv& conv);
absl::StatusOr<loop::Nest> ScheduleConvPixels(const Task& task, const Conv& conv,
                                              const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_PIXELS_H_
