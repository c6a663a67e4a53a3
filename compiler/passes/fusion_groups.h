// Decides for FuseOps which operators share a kernel, on numbers only.
#ifndef HONE_COMPILER_PASSES_FUSION_GROUPS_H_
#define HONE_COMPILER_PASSES_FUSION_GROUPS_H_

#include <vector>

#include "compiler/passes/dominators.h"

namespace hone::passes {

// Which nodes before it a node may take into its kernel as a prologue: none, nodes that only move
// elements, or any that is at most injective.
enum class Prologue { kNone, kMoves, kAny };

// The largest group that may become a kernel.
struct GroupLimits {
  int nodes = 0;
  int inputs = 0;  // tensors that are read from outside the group
};

// `kinds[i]` is the kind of node i of `graph`; kOpaque nodes stay alone. The result has a
// representative for each node, which is the same for all nodes of a group. The last node of a
// group post-dominates the others, and only its value is used outside the group. No nodes are
// joined to a group beyond `limits`. `prologues[i]` says what node i takes as a prologue (empty:
// nothing), and `moves[i]` whether node i only moves elements.
std::vector<int> FusionGroups(const std::vector<FlowNode>& graph,
                              const std::vector<ops::FuseKind>& kinds, const GroupLimits& limits,
                              const std::vector<Prologue>& prologues = {},
                              const std::vector<bool>& moves = {});

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FUSION_GROUPS_H_
