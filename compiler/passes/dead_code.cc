#include "compiler/passes/dead_code.h"

#include <set>

#include "compiler/ir/node_map.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

std::set<std::string> ReachedFrom(const ir::Module& module, const std::string& root) {
  std::set<std::string> reached{root};
  std::vector<std::string> todo{root};
  while (!todo.empty()) {
    const Expr function = module.functions.at(todo.back());
    todo.pop_back();
    for (const Expr& node : ir::PostOrder(function)) {
      if (node->kind != ExprKind::kGlobalVar || !module.functions.contains(node->name)) continue;
      if (reached.insert(node->name).second) todo.push_back(node->name);
    }
  }
  return reached;
}

// Lets are as nodes of a graph once their variable has no use but the let's own.
Expr DropLets(const Expr& function) {
  ir::NodeSet used;
  for (const Expr& node : ir::PostOrder(function)) {
    for (size_t i = node->kind == ExprKind::kLet ? 1 : 0; i < node->args.size(); ++i) {
      used.insert(node->args[i].get());
    }
  }
  return ir::Rewrite(function, [&](const Expr& node) -> Expr {
    const bool dead = node->kind == ExprKind::kLet && !used.contains(node->args[0].get());
    return dead ? node->args[2] : node;
  });
}

}  // namespace

absl::StatusOr<ir::Module> DeadCode(const ir::Module& module, const PassContext&) {
  if (!module.functions.contains("main")) return MapFunctions(module, DropLets);
  ir::Module live;
  for (const std::string& name : ReachedFrom(module, "main")) {
    live.functions[name] = DropLets(module.functions.at(name));
  }
  return live;
}

}  // namespace hone::passes
