// The strategy "tiles" of matrix products: blocks of sums in tile registers.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_DENSE_TILES_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_DENSE_TILES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/schedule/templates/dense_view.h"
#include "compiler/schedule/templates/strategy_choice.h"

namespace hone::schedule {

bool HasDenseTiles(const Dense& dense, const CpuTarget& target);
std::optional<Knob> NextDenseTilesKnob(const Dense& dense, const Config& prefix);
StrategyChoice BestDenseTiles(const Dense& dense);
absl::StatusOr<loop::Nest> ScheduleDenseTiles(const Task& task, const Dense& dense,
                                              const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_DENSE_TILES_H_
