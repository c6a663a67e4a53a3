// The strategy "stages" of templates that can also schedule a kernel as the generic one does: below
// the choice of the strategy, its knobs are the generic template's.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_STAGES_STRATEGY_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_STAGES_STRATEGY_H_

#include "absl/status/statusor.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// The generic template's default, as a config of this strategy.
Config DefaultStages(const Task& task);
// `config` is of this strategy.
absl::StatusOr<loop::Nest> ScheduleAsStages(const Task& task, const Config& config);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_STAGES_STRATEGY_H_
