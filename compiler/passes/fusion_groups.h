// Decides for FuseOps which operators share a kernel, on numbers only.
#ifndef HONE_COMPILER_PASSES_FUSION_GROUPS_H_
#define HONE_COMPILER_PASSES_FUSION_GROUPS_H_

#include <vector>

#include "compiler/passes/dominators.h"

namespace hone::passes {

// Which nodes before it a node may take into its kernel as a prologue: none, nodes that only move
// elements, or any that is at most injective.
enum class Prologue { kNone, kMoves, kAny };

// `kinds[i]` is the kind of node i of `graph`; kOpaque nodes stay alone. The result has a
// representative for each node, which is the same for all nodes of a group. The last node of a
// group post-dominates the others, and only its value is used outside the group. A group has at
// most `max_nodes` nodes. `prologues[i]` says what node i takes as a prologue (empty: nothing), and
// `moves[i]` whether node i only moves elements.
std::vector<int> FusionGroups(const std::vector<FlowNode>& graph,
                              const std::vector<ops::FuseKind>& kinds, int max_nodes,
                              const std::vector<Prologue>& prologues = {},
                              const std::vector<bool>& moves = {});

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FUSION_GROUPS_H_
