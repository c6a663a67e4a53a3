#include "compiler/ir/expr.h"

#include <cassert>
#include <cstring>
#include <utility>

#include "compiler/ir/node_map.h"

namespace hone::ir {
namespace {

// A chain of ten thousand nodes would overflow the stack when its last user goes: the operands of
// dying nodes queue up here instead.
void Destroy(const ExprNode* node) {
  thread_local std::vector<const ExprNode*> dying;
  thread_local bool draining = false;
  dying.push_back(node);
  if (draining) return;
  draining = true;
  while (!dying.empty()) {
    const ExprNode* next = dying.back();
    dying.pop_back();
    delete next;  // releases its operands, which come back here
  }
  draining = false;
  if (dying.capacity() > 4096) std::vector<const ExprNode*>().swap(dying);
}

Expr Make(ExprNode node) {
  return {new ExprNode(std::move(node)), [](const ExprNode* dead) { Destroy(dead); }};
}

Expr MakeOperands(ExprKind kind, std::vector<Expr> args) {
  ExprNode node{.kind = kind};
  node.args = std::move(args);
  return Make(std::move(node));
}

// The operands in evaluation order: the callee of a call last, so that texts have a function
// literal beside its call.
size_t OperandCount(const ExprNode& node) { return node.args.size() + (node.callee ? 1 : 0); }
const Expr& Operand(const ExprNode& node, size_t i) {
  return i < node.args.size() ? node.args[i] : node.callee;
}

std::vector<Expr> Order(const Expr& root, bool enter_functions) {
  std::vector<Expr> order;
  NodeSet seen{root.get()};
  std::vector<std::pair<const Expr*, size_t>> stack{{&root, 0}};
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    const bool leaf =
        !enter_functions && (*node)->kind == ExprKind::kFunction && node->get() != root.get();
    if (leaf || next == OperandCount(**node)) {
      order.push_back(*node);
      stack.pop_back();
      continue;
    }
    const Expr& operand = Operand(**node, next++);
    if (seen.insert(operand.get()).second) stack.emplace_back(&operand, 0);
  }
  return order;
}

Expr RewriteInOrder(const std::vector<Expr>& order, const Expr& root, bool enter_functions,
                    const std::function<Expr(const Expr&)>& rewrite) {
  NodeMap<Expr> rewritten;
  rewritten.reserve(order.size());
  for (const Expr& node : order) {
    const bool leaf = !enter_functions && node->kind == ExprKind::kFunction && node != root;
    if (leaf) {
      rewritten[node.get()] = rewrite(node);
      continue;
    }
    rewritten[node.get()] = rewrite(WithOperandsOf(node, rewritten));
  }
  return rewritten.at(root.get());
}

}  // namespace

Expr Var(std::string name, Type type) {
  ExprNode node{.kind = ExprKind::kVar};
  node.type = std::make_shared<const Type>(std::move(type));
  node.name = std::move(name);
  return Make(std::move(node));
}

Expr TensorVar(std::string name, std::vector<int64_t> shape, DataType dtype) {
  return Var(std::move(name), Type{.tensor = {std::move(shape), dtype}});
}

Expr Constant(TensorType type, ConstantData data) {
  assert(data.size_bytes() == static_cast<size_t>(type.SizeBytes()));
  ExprNode node{.kind = ExprKind::kConstant};
  node.type = std::make_shared<const Type>(Type{.tensor = std::move(type)});
  node.data = std::move(data);
  return Make(std::move(node));
}

Expr ConstantFromBytes(TensorType type, const void* bytes) {
  const size_t size = static_cast<size_t>(type.SizeBytes());
  std::shared_ptr<uint8_t[]> copy(new uint8_t[size == 0 ? 1 : size]);
  if (size != 0) std::memcpy(copy.get(), bytes, size);
  const uint8_t* data = copy.get();
  return Constant(std::move(type), {std::move(copy), data, size});
}

Expr Call(std::string op, std::vector<Expr> args, Attrs attrs) {
  ExprNode node{.kind = ExprKind::kCall};
  node.name = std::move(op);
  node.args = std::move(args);
  node.attrs = std::move(attrs);
  return Make(std::move(node));
}

Expr CallFunction(Expr function, std::vector<Expr> args, Attrs attrs) {
  ExprNode node{.kind = ExprKind::kCall};
  node.callee = std::move(function);
  node.args = std::move(args);
  node.attrs = std::move(attrs);
  return Make(std::move(node));
}

Expr Function(std::vector<Expr> params, Expr body, Attrs attrs) {
  ExprNode node{.kind = ExprKind::kFunction};
  node.args = std::move(params);
  node.args.push_back(std::move(body));
  node.attrs = std::move(attrs);
  return Make(std::move(node));
}

Expr GlobalVar(std::string name) {
  ExprNode node{.kind = ExprKind::kGlobalVar};
  node.name = std::move(name);
  return Make(std::move(node));
}

Expr Tuple(std::vector<Expr> fields) { return MakeOperands(ExprKind::kTuple, std::move(fields)); }

Expr TupleGetItem(Expr tuple, int64_t index) {
  ExprNode node{.kind = ExprKind::kTupleGetItem};
  node.args.push_back(std::move(tuple));
  node.index = index;
  return Make(std::move(node));
}

Expr Let(Expr var, Expr value, Expr body) {
  return MakeOperands(ExprKind::kLet, {std::move(var), std::move(value), std::move(body)});
}

Expr If(Expr condition, Expr then, Expr otherwise) {
  return MakeOperands(ExprKind::kIf, {std::move(condition), std::move(then), std::move(otherwise)});
}

Expr WithType(const Expr& e, Type type) {
  ExprNode node = *e;
  node.type = std::make_shared<const Type>(std::move(type));
  return Make(std::move(node));
}

Expr WithAttrs(const Expr& e, Attrs attrs) {
  ExprNode node = *e;
  node.attrs = std::move(attrs);
  return Make(std::move(node));
}

Expr WithOperandsOf(const Expr& node, const NodeMap<Expr>& done) {
  const auto stays = [&](const Expr& operand) { return done.at(operand.get()) == operand; };
  if (std::all_of(node->args.begin(), node->args.end(), stays) &&
      (!node->callee || stays(node->callee))) {
    return node;
  }
  std::vector<Expr> args;
  args.reserve(node->args.size());
  for (const Expr& arg : node->args) args.push_back(done.at(arg.get()));
  return WithOperands(node, node->callee ? done.at(node->callee.get()) : nullptr, std::move(args));
}

Expr WithOperands(const Expr& node, Expr callee, std::vector<Expr> args) {
  if (callee == node->callee && args == node->args) return node;
  ExprNode copy = *node;
  copy.callee = std::move(callee);
  copy.args = std::move(args);
  return Make(std::move(copy));
}

std::vector<Expr> Params(const ExprNode& function) {
  return {function.args.begin(), function.args.end() - 1};
}

const Expr& Body(const ExprNode& function) { return function.args.back(); }

Type ValueType(const ExprNode& e) {
  if (e.kind != ExprKind::kFunction) return *e.type;
  Type type{.is_function = true};
  for (const Expr& param : Params(e)) type.fields.push_back(*param->type);
  type.fields.push_back(*e.type);
  return type;
}

std::vector<Expr> PostOrder(const Expr& root) { return Order(root, true); }
std::vector<Expr> PostOrderOutside(const Expr& root) { return Order(root, false); }

Expr Rewrite(const Expr& root, const std::function<Expr(const Expr& node)>& rewrite) {
  return RewriteInOrder(PostOrder(root), root, true, rewrite);
}

Expr RewriteOutside(const Expr& root, const std::function<Expr(const Expr& node)>& rewrite) {
  return RewriteInOrder(PostOrderOutside(root), root, false, rewrite);
}

}  // namespace hone::ir
