#include "compiler/passes/select_branches.h"

#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// `then` and `otherwise` are of type `type`.
Expr Select(const Expr& condition, const Expr& then, const Expr& otherwise, const ir::Type& type) {
  if (!type.is_tuple) return ir::Call("where", {condition, then, otherwise});
  std::vector<Expr> fields;
  for (size_t i = 0; i < type.fields.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    fields.push_back(Select(condition, ir::TupleGetItem(then, index),
                            ir::TupleGetItem(otherwise, index), type.fields[i]));
  }
  return ir::Tuple(std::move(fields));
}

}  // namespace

absl::StatusOr<ir::Module> SelectBranches(const ir::Module& module, const PassContext&) {
  return MapFunctions(module, [](const Expr& function) {
    return ir::Rewrite(function, [](const Expr& node) -> Expr {
      if (node->kind != ExprKind::kIf) return node;
      return Select(node->args[0], node->args[1], node->args[2], *node->type);
    });
  });
}

}  // namespace hone::passes
