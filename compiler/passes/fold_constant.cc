#include "compiler/passes/fold_constant.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/literal.h"
#include "compiler/ir/node_map.h"
#include "compiler/ops/call_type.h"
#include "compiler/ops/op.h"
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

int64_t Elements(const ir::Type& type) {
  int64_t elements = 0;
  for (const ir::TensorType& tensor : TensorsOf(type)) elements += tensor.ElementCount();
  return elements;
}

// Whether a call's result is large, and much larger than its operands, by `size`: a tensor that a
// constant is repeated to is better made where it is needed.
bool Grows(const ir::ExprNode& call, int64_t (*size)(const ir::Type&)) {
  constexpr int64_t kSmall = 1 << 16;
  int64_t operands = 0;
  for (const Expr& arg : call.args) operands += size(*arg->type);
  return size(*call.type) > std::max(kSmall, 2 * operands);
}

bool IsCallOfConstants(const ir::ExprNode& node) {
  return node.kind == ExprKind::kCall && !node.callee && node.type &&
         std::all_of(node.args.begin(), node.args.end(), IsConstantTree);
}

bool IsProduct(const ir::ExprNode& node) {
  if (node.kind != ExprKind::kCall || node.callee) return false;
  const ops::Op* op = ops::FindOp(node.name);
  return op != nullptr && op->kind == ops::FuseKind::kComplex;
}

absl::StatusOr<Expr> Fold(const Expr& call, const Evaluator& evaluator) {
  absl::StatusOr<std::vector<Expr>> results = evaluator(call);
  if (absl::IsUnimplemented(results.status())) return call;
  HONE_RETURN_IF_ERROR(results.status());
  return call->type->is_tuple ? ops::TypedTuple(*std::move(results)) : results->at(0);
}

// Folds one function after the other.
class Folding {
 public:
  explicit Folding(const Evaluator& evaluator) : evaluator_(evaluator) {}

  Expr Apply(const Expr& function) {
    made_of_constants_.clear();
    return ir::RewriteOutside(function, [this](const Expr& node) {
      Expr folded = Simplify(node);
      if (IsMadeOfConstants(*folded)) made_of_constants_.insert(folded.get());
      return folded;
    });
  }
  const absl::Status& error() const { return error_; }

 private:
  Expr Simplify(const Expr& node) {
    if (node->kind == ExprKind::kTupleGetItem && node->args[0]->kind == ExprKind::kTuple) {
      return node->args[0]->args[node->index];
    }
    if (node->kind == ExprKind::kIf && IsConstant(node->args[0])) {
      return node->args[ir::ScalarValue(*node->args[0]) != 0 ? 1 : 2];
    }
    const Expr call = IsProduct(*node) ? WithKnownOperands(node) : node;
    return IsCallOfConstants(*call) && !Grows(*call, Bytes) ? Evaluated(call) : call;
  }

  // Calls that are left over constants, since their results would be larger.
  bool IsMadeOfConstants(const ir::ExprNode& node) const {
    return node.kind == ExprKind::kCall && !node.callee && node.type &&
           std::all_of(node.args.begin(), node.args.end(), [&](const Expr& arg) {
             return IsConstant(arg) || made_of_constants_.contains(arg.get());
           });
  }

  // Weights that are stored as narrow integers are those that they stand for: a product reads all
  // of them in every run, where a gather, say, reads a few rows.
  Expr WithKnownOperands(const Expr& product) {
    std::vector<Expr> operands;
    for (const Expr& arg : product->args) {
      if (!made_of_constants_.contains(arg.get())) {
        operands.push_back(arg);
        continue;
      }
      operands.push_back(ir::RewriteOutside(arg, [this](const Expr& node) {
        return IsCallOfConstants(*node) && !Grows(*node, Elements) ? Evaluated(node) : node;
      }));
    }
    return ir::WithOperands(product, nullptr, std::move(operands));
  }

  Expr Evaluated(const Expr& call) {
    if (!evaluator_ || !error_.ok()) return call;
    absl::StatusOr<Expr> folded = Fold(call, evaluator_);
    if (!folded.ok()) error_ = folded.status();
    return folded.ok() ? *std::move(folded) : call;
  }

  const Evaluator& evaluator_;
  ir::NodeSet made_of_constants_;
  absl::Status error_;
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
