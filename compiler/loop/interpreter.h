// Gives nests their meaning: runs them, slowly and strictly. Property tests compare with it, and
// FoldConstant evaluates with it.
#ifndef HONE_COMPILER_LOOP_INTERPRETER_H_
#define HONE_COMPILER_LOOP_INTERPRETER_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

struct InterpretOptions {
  // Runs the iterations of parallel loops last to first: a result that differs from that of the
  // usual order shows that they are not independent.
  bool reverse_grid = false;
};

// Runs the prepare launches, then the run launches. buffers[i] is the memory of nest.buffers[i] in
// its physical layout; of a workspace or prepared buffer it may be null, and the interpreter
// allocates it. What the interpreter allocates holds NaN (floats) or odd numbers until it is
// written.
//
// Every access is checked: kInternal names one that lies outside its buffer's padded extents, or a
// variable that no loop binds. Both operands of kAnd and kOr are evaluated, but only the chosen one
// of kSelect. Thread-safe for different buffers.
absl::Status Interpret(const Nest& nest, const std::vector<void*>& buffers,
                       const InterpretOptions& options = {});

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_INTERPRETER_H_
