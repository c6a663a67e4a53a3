// Finds launches that are too small to be worth more than one thread.
#ifndef HONE_COMPILER_LOWER_GRAIN_H_
#define HONE_COMPILER_LOWER_GRAIN_H_

#include <vector>

#include "compiler/loop/stmt.h"
#include "compiler/machine/machine.h"

namespace hone::lower {

// For each launch: whether one thread would need less time for it than the machine's grain
// (LaunchCosts::grain_ns), estimated from what it computes and what it moves, or whether its grid
// has one index.
std::vector<bool> AreBelowGrain(const std::vector<loop::Launch>& launches,
                                const machine::Machine& machine);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_GRAIN_H_
