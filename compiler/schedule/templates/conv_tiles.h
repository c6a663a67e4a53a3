// The strategy "tiles" of convolutions: blocks of sums in tile registers. A tile has the pixels of
// a piece of a row, a step of the sum the input channels of a block, or where there are few the
// taps of a row.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_TILES_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_TILES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/schedule/templates/conv_view.h"
#include "compiler/schedule/templates/strategy_choice.h"

namespace hone::schedule {

bool HasConvTiles(const Conv& conv, const CpuTarget& target);
// Channels of a block that fills the rows of a tile, for data to lie in between kernels; 0: there
// are no tiles.
int64_t WideBlock(const Conv& conv, const CpuTarget& target);
std::optional<Knob> NextConvTilesKnob(const Conv& conv, const Config& prefix);
StrategyChoice BestConvTiles(const Conv& conv);
absl::StatusOr<loop::Nest> ScheduleConvTiles(const Task& task, const Conv& conv,
                                             const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_CONV_TILES_H_
