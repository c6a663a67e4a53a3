// Shows what a primitive makes of a nest.
#ifndef HONE_TESTS_COMPILER_SCHEDULE_GOLDEN_NEST_H_
#define HONE_TESTS_COMPILER_SCHEDULE_GOLDEN_NEST_H_

#include <string>

#include "compiler/loop/stmt.h"

namespace hone::schedule {

// EXPECTs that `nest` computes what `naive` does, up to `tolerance` times the largest value, and
// reads as golden/<name>.txt says.
// HONE_UPDATE_GOLDEN=1 writes that file anew.
void ExpectGolden(const std::string& name, const loop::Nest& naive, const loop::Nest& nest,
                  double tolerance = 0);

}  // namespace hone::schedule

#endif  // HONE_TESTS_COMPILER_SCHEDULE_GOLDEN_NEST_H_
