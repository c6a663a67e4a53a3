#include "compiler/passes/flatten_tuples.h"

#include <fmt/format.h>

#include "compiler/ir/node_map.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// The parameters that stand for a value of `type`, and the value made of them.
Expr Spread(const std::string& name, const ir::Type& type, std::vector<Expr>* params) {
  if (!type.is_tuple) {
    params->push_back(ir::Var(name, type));
    return params->back();
  }
  std::vector<Expr> fields;
  for (size_t i = 0; i < type.fields.size(); ++i) {
    fields.push_back(Spread(fmt::format("{}.{}", name, i), type.fields[i], params));
  }
  return ir::WithType(ir::Tuple(std::move(fields)), type);
}

Expr Item(const Expr& tuple, int64_t index) {
  if (tuple->kind == ExprKind::kTuple) return tuple->args[static_cast<size_t>(index)];
  return ir::WithType(ir::TupleGetItem(tuple, index),
                      tuple->type->fields[static_cast<size_t>(index)]);
}

void Gather(const Expr& value, std::vector<Expr>* tensors) {
  if (!value->type->is_tuple) {
    tensors->push_back(value);
    return;
  }
  for (size_t i = 0; i < value->type->fields.size(); ++i) {
    Gather(Item(value, static_cast<int64_t>(i)), tensors);
  }
}

Expr FlattenMain(const Expr& main) {
  ir::NodeMap<Expr> spread;
  std::vector<Expr> params;
  for (const Expr& param : ir::Params(*main)) {
    const Expr value = Spread(param->name, *param->type, &params);
    if (param->type->is_tuple) {
      spread[param.get()] = value;
    } else {
      params.back() = param;
    }
  }
  Expr body = ir::RewriteOutside(ir::Body(*main), [&](const Expr& node) -> Expr {
    const auto found = spread.find(node.get());
    if (found != spread.end()) return found->second;
    if (node->kind == ExprKind::kTupleGetItem) return Item(node->args[0], node->index);
    return node;
  });
  if (body->type->is_tuple) {
    std::vector<Expr> tensors;
    Gather(body, &tensors);
    body = ir::Tuple(std::move(tensors));
  }
  return ir::Function(std::move(params), std::move(body), main->attrs);
}

}  // namespace

absl::StatusOr<ir::Module> FlattenTuples(const ir::Module& module, const PassContext&) {
  ir::Module result = module;
  const auto main = result.functions.find("main");
  if (main != result.functions.end()) main->second = FlattenMain(main->second);
  return result;
}

}  // namespace hone::passes
