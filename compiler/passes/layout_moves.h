// Predicts which kernels that only move elements will not run, and under which signatures.
#ifndef HONE_COMPILER_PASSES_LAYOUT_MOVES_H_
#define HONE_COMPILER_PASSES_LAYOUT_MOVES_H_

#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/workload.h"

namespace hone::passes {

// A call of a kernel without constant operands, with the signatures that it could have.
struct LayoutMove {
  ir::Expr call;
  std::vector<ir::LayoutSignature> signatures;
};

// For each signature of each call, whether the driver is expected to drop the call once layouts are
// chosen (compiler/driver/views.h). The prediction looks at values and their sizes; it does not
// foresee that the driver copies where placing would take too much memory. `calls` are in execution
// order. `body` is the body of the function after FuseOps; its results are outputs.
std::vector<std::vector<bool>> FreeMoves(const std::vector<LayoutMove>& calls,
                                         const ir::Expr& body);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_MOVES_H_
