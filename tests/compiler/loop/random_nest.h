// Random nests for property tests: valid, and always in bounds.
#ifndef HONE_TESTS_COMPILER_LOOP_RANDOM_NEST_H_
#define HONE_TESTS_COMPILER_LOOP_RANDOM_NEST_H_

#include "compiler/loop/stmt.h"
#include "support/random.h"

namespace hone::loop {

Nest RandomNest(Random& random);

}  // namespace hone::loop

#endif  // HONE_TESTS_COMPILER_LOOP_RANDOM_NEST_H_
