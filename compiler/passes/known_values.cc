#include "compiler/passes/known_values.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/call_type.h"
#include "compiler/passes/rewriting.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;

int64_t Bytes(const ir::Type& type) {
  int64_t bytes = 0;
  for (const ir::TensorType& tensor : TensorsOf(type)) bytes += tensor.SizeBytes();
  return bytes;
}

int64_t Elements(const ir::Type& type) {
  int64_t elements = 0;
  for (const ir::TensorType& tensor : TensorsOf(type)) elements += tensor.ElementCount();
  return elements;
}

constexpr int64_t kSmall = 1 << 16;  // bytes or elements

absl::StatusOr<Expr> Evaluate(const Expr& call, const Evaluator& evaluator) {
  absl::StatusOr<std::vector<Expr>> results = evaluator(call);
  if (absl::IsUnimplemented(results.status())) return call;
  HONE_RETURN_IF_ERROR(results.status());
  return call->type->is_tuple ? ops::TypedTuple(*std::move(results)) : results->at(0);
}

}  // namespace

bool IsCallOfConstants(const ir::ExprNode& node) {
  return node.kind == ir::ExprKind::kCall && !node.callee && node.type &&
         std::all_of(node.args.begin(), node.args.end(), IsConstantTree);
}

bool Grows(const ir::ExprNode& call) {
  int64_t operands = 0;
  for (const Expr& arg : call.args) operands += Bytes(*arg->type);
  return Bytes(*call.type) > std::max(kSmall, 2 * operands);
}

int64_t MostElements(const Expr& e) {
  int64_t elements = 0;
  for (const Expr& node : ir::PostOrderOutside(e)) {
    if (IsConstant(node)) elements += Elements(*node->type);
  }
  return std::max(kSmall, 2 * elements);
}

Expr KnownValues::OfCall(const Expr& call) {
  if (!evaluator_ || !error_.ok()) return call;
  absl::StatusOr<Expr> value = Evaluate(call, evaluator_);
  if (!value.ok()) error_ = value.status();
  return value.ok() ? *std::move(value) : call;
}

Expr KnownValues::OfAll(const Expr& e, int64_t most, const UsedOnce& used_once) {
  ir::NodeMap<Expr> done;
  std::vector<std::pair<Expr, bool>> todo = {{e, false}};  // and whether its operands are done
  while (!todo.empty()) {
    const auto [node, has_operands] = todo.back();
    if (const auto it = known_.find(node.get()); it != known_.end()) done[node.get()] = it->second;
    if (node->kind == ir::ExprKind::kFunction) done[node.get()] = node;
    if (done.contains(node.get())) {
      todo.pop_back();
      continue;
    }
    if (!has_operands) {
      todo.back().second = true;
      for (const Expr& arg : node->args) todo.emplace_back(arg, false);
      if (node->callee) todo.emplace_back(node->callee, false);
      continue;
    }
    todo.pop_back();
    Expr with_known = ir::WithOperandsOf(node, done);
    const bool is_known = IsCallOfConstants(*with_known) && Elements(*with_known->type) <= most;
    Expr result = is_known ? OfCall(with_known) : std::move(with_known);
    if (!used_once(node) && !IsConstant(node)) {
      known_[node.get()] = result;
      kept_.push_back(node);
    }
    done[node.get()] = std::move(result);
  }
  return done.at(e.get());
}

}  // namespace hone::passes
