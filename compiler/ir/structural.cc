#include "compiler/ir/structural.h"

#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/printer.h"

namespace hone::ir {
namespace {

bool SameBytes(const ConstantData& a, const ConstantData& b) {
  return a.size_bytes() == b.size_bytes() &&
         (a.identity() == b.identity() || std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0);
}

// What the node says itself, without its operands. Texts of attributes: NaN equals NaN.
bool SameNode(const ExprNode& a, const ExprNode& b) {
  if (a.kind != b.kind || a.args.size() != b.args.size() || a.index != b.index ||
      (a.callee == nullptr) != (b.callee == nullptr)) {
    return false;
  }
  switch (a.kind) {
    case ExprKind::kVar:
      return *a.type == *b.type;
    case ExprKind::kConstant:
      return *a.type == *b.type && SameBytes(a.data, b.data);
    default:
      return a.name == b.name && (a.attrs == b.attrs || ToText(a.attrs) == ToText(b.attrs));
  }
}

bool SharesByValue(const ExprNode& node) {
  return node.kind == ExprKind::kConstant || node.kind == ExprKind::kGlobalVar;
}

std::unordered_set<const ExprNode*> BoundVars(const Expr& root) {
  std::unordered_set<const ExprNode*> bound;
  for (const Expr& node : PostOrder(root)) {
    if (node->kind == ExprKind::kLet) bound.insert(node->args[0].get());
    if (node->kind != ExprKind::kFunction) continue;
    for (const Expr& param : Params(*node)) bound.insert(param.get());
  }
  return bound;
}

}  // namespace

bool StructuralEqual(const Expr& a, const Expr& b) {
  const auto bound_a = BoundVars(a);
  const auto bound_b = BoundVars(b);
  std::unordered_map<const ExprNode*, const ExprNode*> left;   // of a's nodes in b
  std::unordered_map<const ExprNode*, const ExprNode*> right;  // and back
  std::vector<std::pair<const ExprNode*, const ExprNode*>> stack{{a.get(), b.get()}};
  while (!stack.empty()) {
    const auto [x, y] = stack.back();
    stack.pop_back();
    if (!SameNode(*x, *y)) return false;
    if (SharesByValue(*x)) continue;
    if (x->kind == ExprKind::kVar &&
        (bound_a.contains(x) != bound_b.contains(y) || (!bound_a.contains(x) && x != y))) {
      return false;
    }
    const auto [it, fresh] = left.try_emplace(x, y);
    const auto [back, back_fresh] = right.try_emplace(y, x);
    if (it->second != y || back->second != x) return false;
    if (!fresh) continue;
    if (x->callee) stack.emplace_back(x->callee.get(), y->callee.get());
    for (size_t i = 0; i < x->args.size(); ++i) {
      stack.emplace_back(x->args[i].get(), y->args[i].get());
    }
  }
  return true;
}

bool StructuralEqual(const Module& a, const Module& b) {
  if (a.functions.size() != b.functions.size()) return false;
  for (const auto& [name, function] : a.functions) {
    const auto it = b.functions.find(name);
    if (it == b.functions.end() || !StructuralEqual(function, it->second)) return false;
  }
  return true;
}

}  // namespace hone::ir
