#include "compiler/ir/scopes.h"

namespace hone::ir {
namespace {

bool OpensScope(const ExprNode& node, size_t slot) {
  switch (node.kind) {
    case ExprKind::kFunction:
    case ExprKind::kLet:
      return slot + 1 == node.args.size();
    case ExprKind::kIf:
      return slot > 0;
    default:
      return false;
  }
}

}  // namespace

Scopes::Scopes(const Expr& root) {
  const std::vector<Expr> order = PostOrder(root);
  scope_[root.get()] = Open(-1);
  uses_[root.get()] = 0;
  const auto use = [&](const Expr& operand, int scope) {
    const auto [it, fresh] = scope_.try_emplace(operand.get(), scope);
    if (!fresh) it->second = CommonAncestor(it->second, scope);
    ++uses_[operand.get()];
  };
  for (size_t i = order.size(); i-- > 0;) {  // users before operands
    const Expr& node = order[i];
    const int scope = scope_.at(node.get());
    if (node->callee) use(node->callee, scope);
    for (size_t slot = 0; slot < node->args.size(); ++slot) {
      int inner = scope;
      if (OpensScope(*node, slot)) inner = opened_[{node.get(), slot}] = Open(scope);
      use(node->args[slot], inner);
    }
  }
  for (const Expr& node : order) nodes_[scope_.at(node.get())].push_back(node);
}

int Scopes::Open(int parent) {
  parent_.push_back(parent);
  depth_.push_back(parent < 0 ? 0 : depth_[parent] + 1);
  nodes_.emplace_back();
  return static_cast<int>(parent_.size()) - 1;
}

int Scopes::CommonAncestor(int a, int b) const {
  while (a != b) (depth_[a] >= depth_[b] ? a : b) = parent_[depth_[a] >= depth_[b] ? a : b];
  return a;
}

}  // namespace hone::ir
