// Type inference for whole modules.
#ifndef HONE_COMPILER_PASSES_INFER_TYPE_H_
#define HONE_COMPILER_PASSES_INFER_TYPE_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::passes {

// The module with the type of every node filled in; the type of a function node is that of its
// result. Nodes whose types are already right keep their identity. kInvalidArgument and
// kUnimplemented name the function, the expression and what does not fit: an operator's operands,
// arguments against parameters, the branches of an if, a let against its variable, a stated result
// type.
absl::StatusOr<ir::Module> InferTypes(const ir::Module& module);

// Remembers the nodes that inference has gone through and keeps them alive, so that it need not
// enter them again. Used while one model goes through the passes, most of which change few nodes.
class InferredNodes {
 public:
  bool Has(const ir::Expr& node) const { return nodes_.contains(node); }
  void Add(const ir::Expr& node) { nodes_.insert(node); }

 private:
  absl::flat_hash_set<ir::Expr> nodes_;
};
// The same, but skips the nodes in `known` and adds those it inferred. Nodes that read a kGlobalVar
// are never added, because their types depend on the module.
absl::StatusOr<ir::Module> InferTypes(const ir::Module& module, InferredNodes& known);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_INFER_TYPE_H_
