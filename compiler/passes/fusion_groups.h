// Which operators share a kernel: the decision of FuseOps, on numbers only.
#ifndef HONE_COMPILER_PASSES_FUSION_GROUPS_H_
#define HONE_COMPILER_PASSES_FUSION_GROUPS_H_

#include <vector>

#include "compiler/passes/dominators.h"

namespace hone::passes {

// What a kernel that FuseOps would leave without a prologue may still take before itself.
enum class Prologue { kNone, kMoves, kAny };

// `kinds[i]` is that of node i of `graph`; kOpaque nodes stay alone. The result is a representative
// for each node: equal for nodes of one group. The last node of a group post-dominates the others,
// and no value of a group but its last is used outside it. At most `max_nodes` in a group.
// `prologues[i]` is what node i takes: only nodes of which `moves` holds, or any that is no
// reduction. Empty: none do.
std::vector<int> FusionGroups(const std::vector<FlowNode>& graph,
                              const std::vector<ops::FuseKind>& kinds, int max_nodes,
                              const std::vector<Prologue>& prologues = {},
                              const std::vector<bool>& moves = {});

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FUSION_GROUPS_H_
