#include "compiler/ir/structural.h"

#include <cstring>
#include <string_view>
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

// FNV-1a: the same everywhere.
class Hasher {
 public:
  void Add(std::string_view bytes) {
    for (char c : bytes) Byte(static_cast<unsigned char>(c));
    Byte(0xff);
  }
  void Add(uint64_t value) {
    for (int i = 0; i < 8; ++i) Byte(static_cast<unsigned char>(value >> (8 * i)));
  }
  uint64_t value() const { return value_; }

 private:
  void Byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  uint64_t value_ = 0xcbf29ce484222325u;
};

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

uint64_t StructuralHash(const Expr& expr) {
  const auto bound = BoundVars(expr);
  std::unordered_map<const ExprNode*, uint64_t> hashes;
  uint64_t next_var = 0;
  for (const Expr& node : PostOrder(expr)) {
    Hasher hasher;
    hasher.Add(static_cast<uint64_t>(node->kind));
    if (node->kind == ExprKind::kVar) {
      hasher.Add(node->type->ToString());
      hasher.Add(bound.contains(node.get()) ? std::to_string(next_var++) : node->name);
    } else if (node->kind == ExprKind::kConstant) {
      hasher.Add(node->type->ToString());
      hasher.Add({reinterpret_cast<const char*>(node->data.bytes()), node->data.size_bytes()});
    } else {
      hasher.Add(node->name);
      hasher.Add(ToText(node->attrs));
      hasher.Add(static_cast<uint64_t>(node->index));
    }
    if (node->callee) hasher.Add(hashes.at(node->callee.get()));
    for (const Expr& arg : node->args) hasher.Add(hashes.at(arg.get()));
    hashes[node.get()] = hasher.value();
  }
  return hashes.at(expr.get());
}

}  // namespace hone::ir
