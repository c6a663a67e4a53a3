// How far rounding may take a kernel's results from the exact ones.
#ifndef HONE_COMPILER_SCHEDULE_ERROR_BOUND_H_
#define HONE_COMPILER_SCHEDULE_ERROR_BOUND_H_

#include "compiler/ops/lower.h"

namespace hone::schedule {

// The c of the bound |err| <= c * 2^-24 * sum |a||b| on the error of a result, where a and b are
// the factors of the products that the result sums. `amplification` says how many times larger the
// error is than that of direct sums (Plan::Amplification); 1: the sums are direct.
double ErrorBound(const ops::KernelDefinition& def, double amplification = 1);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ERROR_BOUND_H_
