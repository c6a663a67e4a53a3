// The error bound that every config of a kernel has at least.
#ifndef HONE_COMPILER_SCHEDULE_ERROR_BOUND_H_
#define HONE_COMPILER_SCHEDULE_ERROR_BOUND_H_

#include "compiler/ops/lower.h"

namespace hone::schedule {

// ErrorBound (template.h) of direct strategies; those of others are larger.
double DirectErrorBound(const ops::KernelDefinition& def);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ERROR_BOUND_H_
