// Kernels of several anchors: which of FuseOps' groups are one attention.
#ifndef HONE_COMPILER_PASSES_ATTENTION_GROUPS_H_
#define HONE_COMPILER_PASSES_ATTENTION_GROUPS_H_

#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/passes/dominators.h"

namespace hone::passes {

// Makes one group of those of a product of queries and keys, of the softmax of its scores and of
// the product of its weights and values (docs/passes.md), where that has at most `max_nodes`.
// `nodes` are those of `graph`; `groups` is what FusionGroups made of it, and stays that.
void JoinAttention(const std::vector<ir::Expr>& nodes, const std::vector<FlowNode>& graph,
                   int max_nodes, std::vector<int>* groups);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_ATTENTION_GROUPS_H_
