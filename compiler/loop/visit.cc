#include "compiler/loop/visit.h"

#include <bit>

namespace hone::loop {
namespace {

class Substitution : public Mutator {
 public:
  Substitution(const VarMap& vars, const BufferMap& buffers) : vars_(vars), buffers_(buffers) {
    for (const auto& [var, value] : vars) replaced_ |= UseBit(var);
    for (const auto& [from, to] : buffers) replaced_ |= UseBit(from);
  }

  Expr Rewrite(const Expr& e) override {
    if ((e->uses & replaced_) == 0) return e;
    if (e->kind == ExprKind::kVar) {
      const auto it = vars_.find(e.get());
      return it == vars_.end() ? e : it->second;
    }
    if (e->operands.empty() && e->kind != ExprKind::kLoad) return e;
    // Expressions are DAGs: without the table a chain of shared nodes takes exponential time.
    if (!e.IsShared()) return RewriteChildren(e);
    if (const auto it = done_.find(e.get()); it != done_.end()) return it->second;
    Expr result = RewriteChildren(e);
    return done_.try_emplace(e.get(), std::move(result)).first->second;
  }
  using Mutator::Rewrite;

 protected:
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const auto it = buffers_.find(buffer.get());
    return it == buffers_.end() ? buffer : it->second;
  }
  Expr RewriteLoopVar(const Expr& var) override {
    const auto it = vars_.find(var.get());
    return it != vars_.end() && it->second->kind == ExprKind::kVar ? it->second : var;
  }

 private:
  const VarMap& vars_;
  const BufferMap& buffers_;
  uint64_t replaced_ = 0;
  absl::flat_hash_map<const ExprNode*, Expr> done_;
};

Expr RebuildExpr(const Expr& e, Buffer buffer, std::vector<Expr> operands) {
  switch (e->kind) {
    case ExprKind::kLoad:
      return Load(std::move(buffer), std::move(operands));
    case ExprKind::kUnary:
      return Unary(e->unary_op, operands[0]);
    case ExprKind::kBinary:
      return Binary(e->binary_op, operands[0], operands[1]);
    case ExprKind::kSelect:
      return Select(operands[0], operands[1], operands[2]);
    case ExprKind::kCast:
      return Cast(e->dtype, operands[0]);
    default:
      return e;
  }
}

// Structural equality up to the identity of bound variables and buffers.
class Comparison {
 public:
  bool Bind(const Buffer& a, const Buffer& b) {
    if (a->name != b->name || a->dtype != b->dtype || a->shape != b->shape ||
        !(a->layout == b->layout) || a->scope != b->scope) {
      return false;
    }
    if (a->scope == Scope::kGlobal && a->role != b->role) return false;
    if (a->domain_low != b->domain_low || a->domain_high != b->domain_high ||
        a->ascending != b->ascending) {
      return false;
    }
    buffers_[a.get()] = b.get();
    return true;
  }

  bool Equal(const Buffer& a, const Buffer& b) const {
    const auto it = buffers_.find(a.get());
    return it == buffers_.end() ? a == b : it->second == b.get();
  }

  bool Equal(const Expr& a, const Expr& b) const {
    if (!a || !b) return !a && !b;
    if (a->kind != b->kind || a->dtype != b->dtype) return false;
    switch (a->kind) {
      case ExprKind::kInt:
        return a->int_value == b->int_value;
      case ExprKind::kFloat:
        return std::bit_cast<uint64_t>(a->float_value) == std::bit_cast<uint64_t>(b->float_value);
      case ExprKind::kVar: {
        const auto it = vars_.find(a.get());
        return it == vars_.end() ? a.SameAs(b) : it->second == b.get();
      }
      case ExprKind::kLoad:
        return Equal(a->buffer, b->buffer) && Equal(a->operands, b->operands);
      case ExprKind::kUnary:
        return a->unary_op == b->unary_op && Equal(a->operands, b->operands);
      case ExprKind::kBinary:
        return a->binary_op == b->binary_op && Equal(a->operands, b->operands);
      default:
        return Equal(a->operands, b->operands);
    }
  }

  bool Equal(const std::vector<Expr>& a, const std::vector<Expr>& b) const {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!Equal(a[i], b[i])) return false;
    }
    return true;
  }

  bool Equal(const Stmt& a, const Stmt& b) {
    if (a->kind != b->kind || a->body.size() != b->body.size()) return false;
    if (a->kind == StmtKind::kFor) {
      if (a->loop_kind != b->loop_kind || a->var->dtype != b->var->dtype ||
          a->var->name != b->var->name || !Equal(a->min, b->min) || !Equal(a->extent, b->extent)) {
        return false;
      }
      vars_[a->var.get()] = b->var.get();
    } else if (a->kind == StmtKind::kAlloc) {
      if (!Bind(a->buffer, b->buffer)) return false;
    } else if (a->buffer != nullptr && !Equal(a->buffer, b->buffer)) {
      return false;
    }
    if (a->locality != b->locality || a->pending != b->pending || !Equal(a->indices, b->indices) ||
        !Equal(a->value, b->value) || !Equal(a->condition, b->condition)) {
      return false;
    }
    for (size_t i = 0; i < a->body.size(); ++i) {
      if (!Equal(a->body[i], b->body[i])) return false;
    }
    return true;
  }

 private:
  absl::flat_hash_map<const ExprNode*, const ExprNode*> vars_;
  absl::flat_hash_map<const BufferNode*, const BufferNode*> buffers_;
};

}  // namespace

// Most of what is visited stays as it is: nothing is copied before the first change.
Expr Mutator::RewriteChildren(const Expr& e) {
  std::vector<Expr> operands;
  for (size_t i = 0; i < e->operands.size(); ++i) {
    Expr operand = Rewrite(e->operands[i]);
    if (operands.empty()) {
      if (operand.SameAs(e->operands[i])) continue;
      operands = e->operands;
    }
    operands[i] = std::move(operand);
  }
  Buffer buffer = e->kind == ExprKind::kLoad ? RewriteBuffer(e->buffer) : nullptr;
  if (operands.empty() && buffer == e->buffer) return e;
  return RebuildExpr(e, std::move(buffer), operands.empty() ? e->operands : std::move(operands));
}

Stmt Mutator::RewriteChildren(const Stmt& s) {
  std::shared_ptr<StmtNode> copy;
  const auto changed = [&]() -> StmtNode& {
    if (copy == nullptr) copy = std::make_shared<StmtNode>(*s);
    return *copy;
  };
  for (Expr StmtNode::* const member :
       {&StmtNode::min, &StmtNode::extent, &StmtNode::value, &StmtNode::condition}) {
    if (!((*s).*member)) continue;
    Expr e = Rewrite((*s).*member);
    if (!e.SameAs((*s).*member)) changed().*member = std::move(e);
  }
  for (size_t i = 0; i < s->indices.size(); ++i) {
    Expr index = Rewrite(s->indices[i]);
    if (!index.SameAs(s->indices[i])) changed().indices[i] = std::move(index);
  }
  if (s->buffer != nullptr) {
    if (Buffer buffer = RewriteBuffer(s->buffer); buffer != s->buffer) changed().buffer = buffer;
  }
  if (s->var) {
    if (Expr var = RewriteLoopVar(s->var); !var.SameAs(s->var)) changed().var = std::move(var);
  }
  for (size_t i = 0; i < s->body.size(); ++i) {
    Stmt child = Rewrite(s->body[i]);
    if (child != s->body[i]) changed().body[i] = std::move(child);
  }
  if (copy == nullptr) return s;
  return s->kind == StmtKind::kSeq ? Seq(std::move(copy->body)) : copy;
}

void ForEachExpr(const StmtNode& stmt, const std::function<void(const Expr&)>& visit) {
  if (stmt.min) visit(stmt.min);
  if (stmt.extent) visit(stmt.extent);
  for (const Expr& index : stmt.indices) visit(index);
  if (stmt.value) visit(stmt.value);
  if (stmt.condition) visit(stmt.condition);
}

void Walk(const Expr& root, const std::function<void(const Expr&)>& visit) {
  visit(root);
  for (const Expr& operand : root->operands) Walk(operand, visit);
}

void Walk(const Stmt& root, const std::function<bool(const Stmt&)>& enter) {
  if (!enter(root)) return;
  for (const Stmt& child : root->body) Walk(child, enter);
}

void Walk(const Stmt& root, const std::function<bool(const Stmt&)>& enter,
          const std::function<void(const Expr&)>& visit) {
  Walk(root, [&](const Stmt& s) {
    const bool below = enter(s);
    ForEachExpr(*s, [&](const Expr& e) { Walk(e, visit); });
    return below;
  });
}

Expr Substitute(const Expr& e, const VarMap& vars) { return Substitute(e, vars, {}); }

Expr Substitute(const Expr& e, const VarMap& vars, const BufferMap& buffers) {
  return Substitution(vars, buffers).Rewrite(e);
}

Stmt Substitute(const Stmt& s, const VarMap& vars, const BufferMap& buffers) {
  return Substitution(vars, buffers).Rewrite(s);
}

Nest Substitute(const Nest& nest, const BufferMap& buffers) {
  Nest result = nest;
  for (Buffer& buffer : result.buffers) {
    if (const auto it = buffers.find(buffer.get()); it != buffers.end()) buffer = it->second;
  }
  const VarMap no_vars;
  for (Launch& launch : result.launches) launch.body = Substitute(launch.body, no_vars, buffers);
  return result;
}

Stmt RenameFresh(const Stmt& s, const std::function<std::string(const std::string&)>& rename) {
  VarMap vars;
  BufferMap buffers;
  Walk(s, [&](const Stmt& node) {
    if (node->kind == StmtKind::kFor) {
      vars[node->var.get()] = Var(rename(node->var->name), node->var->dtype);
    } else if (node->kind == StmtKind::kAlloc) {
      auto copy = std::make_shared<BufferNode>(*node->buffer);
      copy->name = rename(copy->name);
      buffers[node->buffer.get()] = std::move(copy);
    }
    return true;
  });
  return Substitute(s, vars, buffers);
}

bool UsesVar(const Expr& e, const Expr& var) {
  if (var->kind == ExprKind::kVar && (e->uses & UseBit(var.get())) == 0) return false;
  if (e.SameAs(var)) return true;
  for (const Expr& operand : e->operands) {
    if (UsesVar(operand, var)) return true;
  }
  return false;
}

bool UsesVar(const Stmt& s, const Expr& var) {
  bool uses = false;
  Walk(s, [&](const Stmt& node) {
    ForEachExpr(*node, [&](const Expr& e) { uses = uses || UsesVar(e, var); });
    return !uses;
  });
  return uses;
}

bool HasLoad(const Expr& e) {
  if (e->kind == ExprKind::kLoad) return true;
  for (const Expr& operand : e->operands) {
    if (HasLoad(operand)) return true;
  }
  return false;
}

std::vector<Stmt> CollectLoops(const Stmt& s) {
  std::vector<Stmt> loops;
  Walk(s, [&](const Stmt& node) {
    if (node->kind == StmtKind::kFor) loops.push_back(node);
    return true;
  });
  return loops;
}

Stmt InsideLoops(const Stmt& s) {
  Stmt inside = s;
  while (inside->kind == StmtKind::kFor) inside = inside->body[0];
  return inside;
}

bool StructuralEqual(const Stmt& a, const Stmt& b) { return Comparison().Equal(a, b); }

bool StructuralEqual(const Nest& a, const Nest& b) {
  if (a.name != b.name || a.buffers.size() != b.buffers.size() ||
      a.launches.size() != b.launches.size()) {
    return false;
  }
  Comparison comparison;
  for (size_t i = 0; i < a.buffers.size(); ++i) {
    if (!comparison.Bind(a.buffers[i], b.buffers[i])) return false;
  }
  for (size_t i = 0; i < a.launches.size(); ++i) {
    if (a.launches[i].name != b.launches[i].name || a.launches[i].phase != b.launches[i].phase ||
        !comparison.Equal(a.launches[i].body, b.launches[i].body)) {
      return false;
    }
  }
  return true;
}

}  // namespace hone::loop
