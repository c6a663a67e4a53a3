// The generic template's plan as a strategy of families that can do without their own.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_STAGES_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_STAGES_H_

#include <memory>

#include "compiler/schedule/plan.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// Its cycles are not known: it ranks behind all others.
std::unique_ptr<const Plan> OpenStages(const Task& task);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_STAGES_H_
