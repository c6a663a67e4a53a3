// Type inference for whole modules.
#ifndef HONE_COMPILER_PASSES_INFER_TYPE_H_
#define HONE_COMPILER_PASSES_INFER_TYPE_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::passes {

// The module with the type of every node filled in; a function's is that of its result. Nodes whose
// types stand keep their identity. kInvalidArgument and kUnimplemented name the function, the
// expression and what does not fit: an operator's operands, arguments against parameters, the
// branches of an if, a let against its variable, a stated result type.
absl::StatusOr<ir::Module> InferTypes(const ir::Module& module);

// Nodes that inference has gone through, kept alive: one it finds again it need not enter. For one
// model's way through the passes, most of which change few nodes.
class InferredNodes {
 public:
  bool Has(const ir::Expr& node) const { return nodes_.contains(node); }
  void Add(const ir::Expr& node) { nodes_.insert(node); }

 private:
  absl::flat_hash_set<ir::Expr> nodes_;
};
// The same, adding to `known`. What was inferred holds for every module, so `known` has no nodes
// that read a kGlobalVar.
absl::StatusOr<ir::Module> InferTypes(const ir::Module& module, InferredNodes& known);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_INFER_TYPE_H_
