#include "compiler/codegen/opencl/flat_expr.h"

#include <memory>
#include <utility>

#include "compiler/loop/simplify.h"

namespace hone::codegen::opencl {

loop::Expr Flattener::Value(const loop::Expr& e) { return Flat(Kept(loop::Simplify(e, bounds_))); }

loop::Expr Flattener::Offset(const loop::BufferNode& buffer,
                             const std::vector<loop::Expr>& indices) {
  return Flat(Kept(loop::PhysicalOffset(buffer, indices, bounds_)));
}

loop::Expr Flattener::Kept(loop::Expr e) {
  kept_.push_back(e);
  return e;
}

loop::Expr Flattener::Flat(const loop::Expr& e) {
  if (e->operands.empty() && e->kind != loop::ExprKind::kLoad) return e;
  if (const auto it = done_.find(e.get()); it != done_.end()) return it->second;
  loop::Expr flat = FlatInner(e);
  return done_.try_emplace(e.get(), std::move(flat)).first->second;
}

loop::Expr Flattener::FlatInner(const loop::Expr& e) {
  std::vector<loop::Expr> operands;
  if (e->kind == loop::ExprKind::kLoad) {
    operands.push_back(Offset(*e->buffer, e->operands));
  } else {
    bool changed = false;
    for (const loop::Expr& operand : e->operands) {
      operands.push_back(Flat(operand));
      changed = changed || !operands.back().SameAs(operand);
    }
    if (!changed) return e;
  }
  auto node = std::make_shared<loop::ExprNode>(*e);
  node->operands = std::move(operands);
  return loop::Expr(std::move(node));
}

}  // namespace hone::codegen::opencl
