#include "compiler/ir/scopes.h"

#include <algorithm>
#include <unordered_set>

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
  scope_[root.get()] = Open(-1, 0);
  uses_[root.get()] = 0;
  const auto use = [&](const Expr& operand, int scope) {
    const auto [it, fresh] = scope_.try_emplace(operand.get(), scope);
    if (!fresh) it->second = CommonAncestor(it->second, scope);
    ++uses_[operand.get()];
  };
  std::unordered_set<const ExprNode*> bodies_of_lets;
  for (size_t i = order.size(); i-- > 0;) {  // users before operands
    const Expr& node = order[i];
    const int scope = scope_.at(node.get());
    const bool is_let = node->kind == ExprKind::kLet;
    const bool same_block = is_let && uses_[node.get()] == 1 && bodies_of_lets.contains(node.get());
    if (is_let) bodies_of_lets.insert(node->args.back().get());
    if (node->callee) use(node->callee, scope);
    for (size_t slot = 0; slot < node->args.size(); ++slot) {
      int inner = scope;
      if (OpensScope(*node, slot)) {
        inner = Open(scope, nesting_of_[scope] + (same_block ? 0 : 1));
        opened_[{node.get(), slot}] = inner;
      }
      use(node->args[slot], inner);
    }
  }
  for (const Expr& node : order) nodes_[scope_.at(node.get())].push_back(node);
}

int Scopes::Open(int parent, int nesting) {
  const int scope = static_cast<int>(parent_.size());
  parent_.push_back(parent);
  depth_.push_back(parent < 0 ? 0 : depth_[parent] + 1);
  // Jumps of the lengths of a skew-binary number: any ancestor is a logarithmic number of them
  // away.
  const int far = parent < 0 ? -1 : jump_[parent];
  const bool equal = far >= 0 && jump_[far] >= 0 &&
                     depth_[parent] - depth_[far] == depth_[far] - depth_[jump_[far]];
  jump_.push_back(equal ? jump_[far] : parent);
  nesting_of_.push_back(nesting);
  nesting_ = std::max(nesting_, nesting);
  nodes_.emplace_back();
  return scope;
}

int Scopes::CommonAncestor(int a, int b) const {
  if (depth_[a] < depth_[b]) std::swap(a, b);
  while (depth_[a] > depth_[b]) a = depth_[jump_[a]] >= depth_[b] ? jump_[a] : parent_[a];
  // Scopes of one depth have jumps of one length.
  while (a != b) {
    const bool apart = jump_[a] != jump_[b];
    a = apart ? jump_[a] : parent_[a];
    b = apart ? jump_[b] : parent_[b];
  }
  return a;
}

}  // namespace hone::ir
