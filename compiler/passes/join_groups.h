// Kernels of several slices that are concatenated: which of FuseOps' groups are better apart.
#ifndef HONE_COMPILER_PASSES_JOIN_GROUPS_H_
#define HONE_COMPILER_PASSES_JOIN_GROUPS_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::passes {

// A concatenation of feature maps whose parts lie one after the other needs no kernel where each is
// written by one (docs/passes.md, "The memory plan"). Where it was fused with slices that it reads,
// and other parts are there whole, these become kernels of their own: they copy their part alone.
// Not where a part has its place elsewhere: results of the function, and what another concatenation
// joins without such slices and without copying, or has been given before.
// `nodes` are those of the flow, the last its result; `groups` what FusionGroups made of them;
// `lanes` of a vector.
void PartJoins(const std::vector<ir::Expr>& nodes, int64_t lanes, std::vector<int>* groups);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_JOIN_GROUPS_H_
