#include "compiler/passes/eliminate_common_subexpr.h"

#include <fmt/format.h>

#include <unordered_map>

#include "compiler/ir/printer.h"
#include "compiler/passes/rewriting.h"
#include "support/digest.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// Equal keys: equal values. Empty: not to be merged. Operands are merged before.
std::string Key(const ir::ExprNode& node) {
  constexpr size_t kCompared = 1 << 16;  // larger constants are merged where they share their bytes
  std::string key;
  switch (node.kind) {
    case ExprKind::kConstant: {
      const ir::ConstantData& data = node.data;
      key = node.type->ToString() + " ";
      if (data.size_bytes() > kCompared) return key + fmt::format("{}", fmt::ptr(data.identity()));
      return key + Sha256Hex({reinterpret_cast<const char*>(data.bytes()), data.size_bytes()});
    }
    case ExprKind::kCall:
      if (node.callee) return "";
      key = node.name + "(" + ir::ToText(node.attrs);
      break;
    case ExprKind::kTuple:
      key = "tuple(";
      break;
    case ExprKind::kTupleGetItem:
      key = fmt::format("item {}(", node.index);
      break;
    default:
      return "";
  }
  for (const Expr& arg : node.args) key += fmt::format(",{}", fmt::ptr(arg.get()));
  return key;
}

Expr Eliminate(const Expr& function) {
  std::unordered_map<std::string, Expr> seen;
  return ir::RewriteOutside(function, [&](const Expr& node) -> Expr {
    std::string key = Key(*node);
    if (key.empty()) return node;
    return seen.try_emplace(std::move(key), node).first->second;
  });
}

}  // namespace

absl::StatusOr<ir::Module> EliminateCommonSubexpr(const ir::Module& module, const PassContext&) {
  return MapFunctions(module, Eliminate);
}

}  // namespace hone::passes
