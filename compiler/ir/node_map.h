// Flat hash tables keyed by the nodes of a graph. Walks through large graphs spend most of their
// time in these.
#ifndef HONE_COMPILER_IR_NODE_MAP_H_
#define HONE_COMPILER_IR_NODE_MAP_H_

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/ir/expr.h"

namespace hone::ir {

// Keys are compared by identity; the nodes outlive the table. An insertion may move the values.
template <typename Value>
using NodeMap = absl::flat_hash_map<const ExprNode*, Value>;
using NodeSet = absl::flat_hash_set<const ExprNode*>;

// `node` with its operands replaced by their values in `done`; the same node if none changes.
Expr WithOperandsOf(const Expr& node, const NodeMap<Expr>& done);

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_NODE_MAP_H_
