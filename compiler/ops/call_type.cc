#include "compiler/ops/call_type.h"

#include <fmt/format.h>

#include "compiler/ir/limits.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/op.h"
#include "compiler/ops/type_budget.h"
#include "support/status.h"

namespace hone::ops {
namespace {

// Far beyond any memory, and small enough that byte counts do not overflow.
constexpr int64_t kMaxElements = int64_t{1} << 48;

absl::StatusOr<ir::Expr> InferNode(const ir::Expr& node) {
  switch (node->kind) {
    case ir::ExprKind::kVar:
    case ir::ExprKind::kConstant:
      return node;
    case ir::ExprKind::kTuple:
      return TypedTuple(node->args);
    case ir::ExprKind::kTupleGetItem: {
      const ir::Type& tuple = *node->args[0]->type;
      if (!tuple.is_tuple || node->index < 0 ||
          node->index >= static_cast<int64_t>(tuple.fields.size())) {
        return absl::InvalidArgumentError(
            fmt::format("item {} was asked of {}", node->index, tuple.ToString()));
      }
      return ir::WithType(node, tuple.fields[node->index]);
    }
    case ir::ExprKind::kCall:
      if (!node->callee) return TypedCall(node->name, node->args, node->attrs);
      [[fallthrough]];
    default:
      return absl::InvalidArgumentError(
          "a function of operator calls was expected, found another kind of expression in it");
  }
}

}  // namespace

absl::Status CheckSize(const std::string& op, const ir::Type& type) {
  for (const ir::Type& field : type.fields) HONE_RETURN_IF_ERROR(CheckSize(op, field));
  if (!type.IsTensor()) return absl::OkStatus();
  if (type.tensor.shape.size() > ir::kMaxRank) {
    return absl::InvalidArgumentError(
        fmt::format("{}: a result of at most {} extents was expected, found {}: join some", op,
                    ir::kMaxRank, type.tensor.shape.size()));
  }
  int64_t count = 1;
  for (const int64_t extent : type.tensor.shape) {
    if (extent < 0 || extent > kMaxElements || __builtin_mul_overflow(count, extent, &count) ||
        count > kMaxElements) {
      return absl::InvalidArgumentError(
          fmt::format("{}: a result of at most {} elements was expected, found {}", op,
                      kMaxElements, type.tensor.ToString()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ir::Type> InferCallType(const std::string& name, const std::vector<ir::Type>& args,
                                       const ir::Attrs& attrs) {
  const Op* op = FindOp(name);
  if (op == nullptr) {
    return absl::UnimplementedError(fmt::format("Hone has no operator {}", name));
  }
  const int count = static_cast<int>(args.size());
  if (count < op->min_args || (op->max_args >= 0 && count > op->max_args)) {
    const std::string expected = op->max_args < 0 ? fmt::format("at least {}", op->min_args)
                                 : op->min_args == op->max_args
                                     ? fmt::format("{}", op->min_args)
                                     : fmt::format("{} to {}", op->min_args, op->max_args);
    return absl::InvalidArgumentError(
        fmt::format("{}: expected {} operands, found {}", name, expected, count));
  }
  HONE_RETURN_IF_ERROR(CheckAttrs(*op, attrs));
  HONE_ASSIGN_OR_RETURN(ir::Type type, op->infer_type(args, attrs));
  HONE_RETURN_IF_ERROR(CheckSize(name, type));
  return type;
}

absl::StatusOr<ir::Expr> TypedCall(const std::string& op, std::vector<ir::Expr> args,
                                   ir::Attrs attrs) {
  std::vector<ir::Type> types;
  for (const ir::Expr& arg : args) types.push_back(*arg->type);
  HONE_ASSIGN_OR_RETURN(ir::Type type, InferCallType(op, types, attrs));
  return ir::WithType(ir::Call(op, std::move(args), std::move(attrs)), std::move(type));
}

ir::Expr TypedTuple(std::vector<ir::Expr> fields) {
  ir::Type type;
  type.is_tuple = true;
  for (const ir::Expr& field : fields) type.fields.push_back(*field->type);
  return ir::WithType(ir::Tuple(std::move(fields)), std::move(type));
}

ir::Expr TypedFunction(std::vector<ir::Expr> params, ir::Expr body, ir::Attrs attrs) {
  const ir::Type type = *body->type;
  return ir::WithType(ir::Function(std::move(params), std::move(body), std::move(attrs)), type);
}

absl::StatusOr<ir::Expr> InferFunctionTypes(const ir::Expr& function) {
  absl::Status status;
  TypeBudget budget;
  ir::Expr body = ir::Rewrite(ir::Body(*function), [&](const ir::Expr& node) -> ir::Expr {
    if (!status.ok()) return node;
    absl::StatusOr<ir::Expr> typed = InferNode(node);
    status = typed.ok() ? budget.Charge(*(*typed)->type) : typed.status();
    return status.ok() ? *std::move(typed) : node;
  });
  HONE_RETURN_IF_ERROR(status);
  return TypedFunction(ir::Params(*function), std::move(body), function->attrs);
}

}  // namespace hone::ops
