// The Winograd strategies of convolutions, scheduled.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_H_

#include "absl/status/statusor.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/template.h"
#include "compiler/schedule/templates/conv_view.h"

namespace hone::schedule {

// A block of tiles at a time, in the scratch of a thread: the data of all its channels transformed,
// then for each group of output channels the products, a matrix product for each of the positions
// of a tile, and from them the results.
absl::StatusOr<loop::Nest> ScheduleWinograd(const Task& task, const Conv& conv,
                                            const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_WINOGRAD_H_
