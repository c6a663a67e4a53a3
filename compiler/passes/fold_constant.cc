#include "compiler/passes/fold_constant.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/literal.h"
#include "compiler/ir/node_map.h"
#include "compiler/ops/op.h"
#include "compiler/passes/known_values.h"
#include "compiler/passes/rewriting.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

bool IsComplex(const ir::ExprNode& node) {
  if (node.kind != ExprKind::kCall || node.callee) return false;
  const ops::Op* op = ops::FindOp(node.name);
  return op != nullptr && op->kind == ops::FuseKind::kComplex;
}

// Folds one function after the other.
class Folding {
 public:
  explicit Folding(const Evaluator& evaluator) : values_(evaluator) {}

  Expr Apply(const Expr& function) {
    made_of_constants_.clear();
    return RewriteCounted(function, [this](const Expr& node, const UsedOnce& used_once) {
      Expr folded = Simplify(node, used_once);
      if (IsMadeOfConstants(*folded)) made_of_constants_.insert(folded.get());
      return folded;
    });
  }
  const absl::Status& error() const { return values_.error(); }

 private:
  Expr Simplify(const Expr& node, const UsedOnce& used_once) {
    if (node->kind == ExprKind::kTupleGetItem && node->args[0]->kind == ExprKind::kTuple) {
      return node->args[0]->args[node->index];
    }
    if (node->kind == ExprKind::kIf && IsConstant(node->args[0])) {
      return node->args[ir::ScalarValue(*node->args[0]) != 0 ? 1 : 2];
    }
    const Expr call = IsComplex(*node) ? WithKnownOperands(node, used_once) : node;
    return IsCallOfConstants(*call) && !Grows(*call) ? values_.OfCall(call) : call;
  }

  // Calls that are left over constants, since their results would be larger, and tuples of them.
  bool IsMadeOfConstants(const ir::ExprNode& node) const {
    const bool is_made = node.kind == ExprKind::kCall ? !node.callee && node.type != nullptr
                                                      : node.kind == ExprKind::kTuple;
    return is_made && !node.args.empty() &&
           std::all_of(node.args.begin(), node.args.end(), [&](const Expr& arg) {
             return IsConstant(arg) || made_of_constants_.contains(arg.get());
           });
  }

  // Weights that are stored as narrow integers are those that they stand for: a product reads all
  // of them in every run, where a gather, say, reads a few rows.
  Expr WithKnownOperands(const Expr& product, const UsedOnce& used_once) {
    std::vector<Expr> operands;
    for (const Expr& arg : product->args) {
      const bool is_known = made_of_constants_.contains(arg.get());
      operands.push_back(is_known ? values_.OfAll(arg, MostElements(arg), used_once) : arg);
    }
    return ir::WithOperands(product, nullptr, std::move(operands));
  }

  KnownValues values_;
  ir::NodeSet made_of_constants_;
};

}  // namespace

absl::StatusOr<ir::Module> FoldConstant(const ir::Module& module, const PassContext& context) {
  Folding folding(context.evaluator);
  ir::Module result =
      MapFunctions(module, [&](const Expr& function) { return folding.Apply(function); });
  HONE_RETURN_IF_ERROR(folding.error());
  return result;
}

}  // namespace hone::passes
