// How far rounding may take a kernel's results from the exact ones.
#ifndef HONE_COMPILER_SCHEDULE_ERROR_BOUND_H_
#define HONE_COMPILER_SCHEDULE_ERROR_BOUND_H_

#include "compiler/ops/lower.h"

namespace hone::schedule {

// c in |err| <= c * 2^-24 * sum |a||b|, of sums whose error is `amplification` times that of direct
// ones, which is 1.
double ErrorBound(const ops::KernelDefinition& def, double amplification = 1);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ERROR_BOUND_H_
