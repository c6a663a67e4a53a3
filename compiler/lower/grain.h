// Launches that are not worth more threads than one.
#ifndef HONE_COMPILER_LOWER_GRAIN_H_
#define HONE_COMPILER_LOWER_GRAIN_H_

#include <vector>

#include "compiler/loop/stmt.h"
#include "compiler/machine/machine.h"

namespace hone::lower {

// Whether each launch takes one thread less than the machine's grain, by what it computes or by
// what it moves, or has a grid of one index.
std::vector<bool> AreBelowGrain(const std::vector<loop::Launch>& launches,
                                const machine::Machine& machine);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_GRAIN_H_
