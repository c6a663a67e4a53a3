#include "compiler/passes/fold_constant.h"

#include <algorithm>

#include "compiler/ir/literal.h"
#include "compiler/ops/call_type.h"
#include "compiler/passes/rewriting.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

int64_t Bytes(const ir::Type& type) {
  int64_t bytes = 0;
  for (const ir::TensorType& tensor : TensorsOf(type)) bytes += tensor.SizeBytes();
  return bytes;
}

bool IsWorthFolding(const ir::ExprNode& call) {
  constexpr int64_t kSmall = 1 << 16;
  if (!call.type || !std::all_of(call.args.begin(), call.args.end(), IsConstantTree)) return false;
  int64_t operands = 0;
  for (const Expr& arg : call.args) operands += Bytes(*arg->type);
  return Bytes(*call.type) <= std::max(kSmall, 2 * operands);
}

absl::StatusOr<Expr> Fold(const Expr& call, const Evaluator& evaluator) {
  absl::StatusOr<std::vector<Expr>> results = evaluator(call);
  if (absl::IsUnimplemented(results.status())) return call;
  HONE_RETURN_IF_ERROR(results.status());
  return call->type->is_tuple ? ops::TypedTuple(*std::move(results)) : results->at(0);
}

}  // namespace

absl::StatusOr<ir::Module> FoldConstant(const ir::Module& module, const PassContext& context) {
  absl::Status error;
  const auto fold = [&](const Expr& node) -> Expr {
    if (node->kind == ExprKind::kTupleGetItem && node->args[0]->kind == ExprKind::kTuple) {
      return node->args[0]->args[node->index];
    }
    if (node->kind == ExprKind::kIf && IsConstant(node->args[0])) {
      return node->args[ir::ScalarValue(*node->args[0]) != 0 ? 1 : 2];
    }
    if (!context.evaluator || !error.ok()) return node;
    if (node->kind != ExprKind::kCall || node->callee || !IsWorthFolding(*node)) return node;
    absl::StatusOr<Expr> folded = Fold(node, context.evaluator);
    if (!folded.ok()) error = folded.status();
    return folded.ok() ? *std::move(folded) : node;
  };
  ir::Module result = MapFunctions(
      module, [&](const Expr& function) { return ir::RewriteOutside(function, fold); });
  HONE_RETURN_IF_ERROR(error);
  return result;
}

}  // namespace hone::passes
