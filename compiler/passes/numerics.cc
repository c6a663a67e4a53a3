#include "compiler/passes/numerics.h"

#include <algorithm>
#include <utility>

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ops::Numerics;

constexpr char kAttr[] = "numerics";

// It is taken off functions that are literals in this one, too.
Expr WithoutNumerics(const Expr& function) {
  return ir::Rewrite(function, [](const Expr& node) -> Expr {
    if (node->kind != ExprKind::kFunction || !node->attrs.contains(kAttr)) return node;
    ir::Attrs attrs = node->attrs;
    attrs.erase(kAttr);
    return ir::WithAttrs(node, std::move(attrs));
  });
}

}  // namespace

std::optional<Numerics> NumericsOf(const Expr& function) {
  const auto said = function->attrs.find(kAttr);
  if (said == function->attrs.end()) return std::nullopt;
  const auto* name = std::get_if<std::string>(&said->second);
  return name == nullptr ? std::nullopt : ops::ParseNumerics(*name);
}

Numerics Stricter(Numerics whole, std::optional<Numerics> part) {
  static_assert(Numerics::kStrict < Numerics::kDefault && Numerics::kDefault < Numerics::kFast);
  return std::min(whole, part.value_or(whole));
}

Expr WithNumerics(const Expr& function, Numerics numerics) {
  if (NumericsOf(function).value_or(Numerics::kDefault) == numerics) return function;
  ir::Attrs attrs = function->attrs;
  attrs[kAttr] = std::string(ops::Name(numerics));
  return ir::WithAttrs(function, std::move(attrs));
}

ir::Module WithNumerics(const ir::Module& module, const std::string& numerics) {
  ir::Module result;
  for (const auto& [name, function] : module.functions) {
    result.functions[name] = WithoutNumerics(function);
  }
  const auto main = result.functions.find("main");
  const std::optional<Numerics> known = ops::ParseNumerics(numerics);
  if (main != result.functions.end() && known) main->second = WithNumerics(main->second, *known);
  return result;
}

}  // namespace hone::passes
