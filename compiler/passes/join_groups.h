// Takes slices out of the kernel that concatenates them, where the concatenation then needs no
// kernel.
#ifndef HONE_COMPILER_PASSES_JOIN_GROUPS_H_
#define HONE_COMPILER_PASSES_JOIN_GROUPS_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::passes {

// A concatenation of feature maps whose parts lie one after the other needs no kernel if a kernel
// writes each part (docs/passes.md, "The memory plan"). If it was fused with slices that it reads,
// and its other parts are results of kernels, the slices become kernels of their own, and each
// copies its part only. This is not done if a part must lie elsewhere: because it is a result of
// the function, or because it is part of another concatenation that needs no copy, or of an earlier
// one. `nodes` are the expressions of the dataflow graph, the last one its result; `groups` is the
// result of FusionGroups; `lanes` is the number of lanes of a vector.
void PartJoins(const std::vector<ir::Expr>& nodes, int64_t lanes, std::vector<int>* groups);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_JOIN_GROUPS_H_
