// Tables by nodes of a graph, in flat memory: what walks through large graphs spend most time on.
#ifndef HONE_COMPILER_IR_NODE_MAP_H_
#define HONE_COMPILER_IR_NODE_MAP_H_

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/ir/expr.h"

namespace hone::ir {

// By identity; the nodes outlive the table. An insertion moves the values.
template <typename Value>
using NodeMap = absl::flat_hash_map<const ExprNode*, Value>;
using NodeSet = absl::flat_hash_set<const ExprNode*>;

// `node` with what stands for its operands in `done`; the same node where they stand for
// themselves.
Expr WithOperandsOf(const Expr& node, const NodeMap<Expr>& done);

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_NODE_MAP_H_
