#include "compiler/passes/numerics.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ops::Numerics;

constexpr char kAttr[] = "numerics";

std::string Name(Numerics numerics) {
  switch (numerics) {
    case Numerics::kStrict:
      return "strict";
    case Numerics::kDefault:
      return "default";
    case Numerics::kFast:
      break;
  }
  return "fast";
}

// Of functions that are literals in it, too.
Expr WithoutNumerics(const Expr& function) {
  return ir::Rewrite(function, [](const Expr& node) -> Expr {
    if (node->kind != ExprKind::kFunction || !node->attrs.contains(kAttr)) return node;
    auto silent = std::make_shared<ir::ExprNode>(*node);
    silent->attrs.erase(kAttr);
    return silent;
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
  auto changed = std::make_shared<ir::ExprNode>(*function);
  changed->attrs[kAttr] = Name(numerics);
  return changed;
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
