#include "compiler/loop/stmt.h"

#include <cassert>

namespace hone::loop {
namespace {

std::shared_ptr<StmtNode> NewNode(StmtKind kind) {
  auto node = std::make_shared<StmtNode>();
  node->kind = kind;
  return node;
}

}  // namespace

Stmt For(Expr var, Expr min, Expr extent, Stmt body, LoopKind kind) {
  assert(var->kind == ExprKind::kVar && min->dtype == var->dtype && extent->dtype == var->dtype);
  auto node = NewNode(StmtKind::kFor);
  node->var = std::move(var);
  node->min = std::move(min);
  node->extent = std::move(extent);
  node->loop_kind = kind;
  node->body = {std::move(body)};
  return node;
}

Stmt Store(Buffer buffer, std::vector<Expr> indices, Expr value) {
  assert(indices.size() == buffer->shape.size() && value->dtype == buffer->dtype);
  auto node = NewNode(StmtKind::kStore);
  node->buffer = std::move(buffer);
  node->indices = std::move(indices);
  node->value = std::move(value);
  return node;
}

Stmt Seq(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  flat.reserve(stmts.size());
  for (Stmt& stmt : stmts) {
    if (stmt == nullptr) continue;
    if (stmt->kind == StmtKind::kSeq) {
      flat.insert(flat.end(), stmt->body.begin(), stmt->body.end());
    } else {
      flat.push_back(std::move(stmt));
    }
  }
  if (flat.size() == 1) return flat[0];
  auto node = NewNode(StmtKind::kSeq);
  node->body = std::move(flat);
  return node;
}

bool IsEmpty(const Stmt& s) { return s->kind == StmtKind::kSeq && s->body.empty(); }

Stmt If(Expr condition, Stmt then, Stmt otherwise) {
  assert(condition->dtype == DataType::kBool);
  auto node = NewNode(StmtKind::kIf);
  node->condition = std::move(condition);
  node->body = {std::move(then)};
  if (otherwise != nullptr) node->body.push_back(std::move(otherwise));
  return node;
}

Stmt While(Expr condition, Stmt body) {
  assert(condition->dtype == DataType::kBool);
  auto node = NewNode(StmtKind::kWhile);
  node->condition = std::move(condition);
  node->body = {std::move(body)};
  return node;
}

Stmt Alloc(Buffer buffer, Stmt body) {
  assert(buffer->scope != Scope::kGlobal);
  auto node = NewNode(StmtKind::kAlloc);
  node->buffer = std::move(buffer);
  node->body = {std::move(body)};
  return node;
}

Stmt Barrier(int pending) {
  assert(pending >= 0);
  auto node = NewNode(StmtKind::kBarrier);
  node->pending = pending;
  return node;
}

Stmt Commit() { return NewNode(StmtKind::kCommit); }

Stmt Prefetch(Buffer buffer, std::vector<Expr> indices, int locality) {
  assert(indices.size() == buffer->shape.size());
  auto node = NewNode(StmtKind::kPrefetch);
  node->buffer = std::move(buffer);
  node->indices = std::move(indices);
  node->locality = locality;
  return node;
}

}  // namespace hone::loop
