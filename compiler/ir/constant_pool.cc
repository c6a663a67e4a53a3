#include "compiler/ir/constant_pool.h"

#include "support/digest.h"

namespace hone::ir {

ConstantData ConstantPool::Share(const ConstantData& data) {
  if (known_.contains(data.identity())) return data;
  const std::string digest =
      Sha256Hex({reinterpret_cast<const char*>(data.bytes()), data.size_bytes()});
  const ConstantData& first = by_digest_.try_emplace(digest, data).first->second;
  known_.insert(first.identity());
  return first;
}

Module ConstantPool::Share(const Module& module) {
  Module shared;
  for (const auto& [name, function] : module.functions) {
    shared.functions[name] = Rewrite(function, [&](const Expr& node) -> Expr {
      if (node->kind != ExprKind::kConstant) return node;
      ConstantData data = Share(node->data);
      if (data.identity() == node->data.identity()) return node;
      return Constant(node->type->tensor, std::move(data));
    });
  }
  return shared;
}

}  // namespace hone::ir
