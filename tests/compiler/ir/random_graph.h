// Random modules that use the whole language, for round trips.
#ifndef HONE_TESTS_COMPILER_IR_RANDOM_GRAPH_H_
#define HONE_TESTS_COMPILER_IR_RANDOM_GRAPH_H_

#include "compiler/ir/expr.h"
#include "support/random.h"

namespace hone::ir {

// Well-scoped, not well-typed. `nodes`: about how many a function gets.
Module RandomModule(Random& random, int nodes);

}  // namespace hone::ir

#endif  // HONE_TESTS_COMPILER_IR_RANDOM_GRAPH_H_
