// Which operators share a kernel: the decision of FuseOps, on numbers only.
#ifndef HONE_COMPILER_PASSES_FUSION_GROUPS_H_
#define HONE_COMPILER_PASSES_FUSION_GROUPS_H_

#include <vector>

#include "compiler/passes/dominators.h"

namespace hone::passes {

// `kinds[i]` is that of node i of `graph`; kOpaque nodes stay alone. The result is a representative
// for each node: equal for nodes of one group. The last node of a group post-dominates the others,
// and no value of a group but its last is used outside it. At most `max_nodes` in a group.
std::vector<int> FusionGroups(const std::vector<FlowNode>& graph,
                              const std::vector<ops::FuseKind>& kinds, int max_nodes);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FUSION_GROUPS_H_
