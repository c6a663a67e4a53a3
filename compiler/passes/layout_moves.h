// Which kernels that only move elements will not run, under which signatures.
#ifndef HONE_COMPILER_PASSES_LAYOUT_MOVES_H_
#define HONE_COMPILER_PASSES_LAYOUT_MOVES_H_

#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/workload.h"

namespace hone::passes {

// A call of a kernel without constants, with the signatures that it could have.
struct LayoutMove {
  ir::Expr call;
  std::vector<ir::LayoutSignature> signatures;
};

// For each signature of each call, which stand in execution order, whether the call is expected to
// go: what the driver finds when layouts are chosen (compiler/driver/views.h), as far as values and
// sizes tell; that it rather copies what would take much memory is not foreseen. `body`: of the
// function, after FuseOps; its results are outputs.
std::vector<std::vector<bool>> FreeMoves(const std::vector<LayoutMove>& calls,
                                         const ir::Expr& body);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_MOVES_H_
