// Finds groups of FuseOps that together are one attention, a kernel with several anchors.
#ifndef HONE_COMPILER_PASSES_ATTENTION_GROUPS_H_
#define HONE_COMPILER_PASSES_ATTENTION_GROUPS_H_

#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/passes/dominators.h"

namespace hone::passes {

// Joins three groups into one: that of the product of queries and keys, that of the softmax of the
// scores, and that of the product of the weights and values (docs/passes.md). The joined group has
// at most `max_nodes` nodes. `nodes` are the expressions of `graph`; `groups` is the result of
// FusionGroups and keeps its form.
void JoinAttention(const std::vector<ir::Expr>& nodes, const std::vector<FlowNode>& graph,
                   int max_nodes, std::vector<int>* groups);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_ATTENTION_GROUPS_H_
