// The generic template's plan, as a strategy for kernels of other families.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_STAGES_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_STAGES_H_

#include <memory>

#include "compiler/schedule/plan.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// Opens the generic template's plan with infinite prices, since its cycles are not known: it ranks
// behind all other strategies.
std::unique_ptr<const Plan> OpenStages(const Task& task);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_STAGES_H_
