#include "compiler/ops/evaluate.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/loop/interpreter.h"
#include "compiler/ops/call_type.h"
#include "compiler/ops/lower.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using Bytes = std::shared_ptr<std::string>;

ir::Expr ConstantOf(const loop::Buffer& buffer, const Bytes& bytes) {
  const auto* first = reinterpret_cast<const uint8_t*>(bytes->data());
  return ir::Constant({buffer->shape, buffer->dtype}, {bytes, first, bytes->size()});
}

// Runs a nest on the bytes of its parameters; the outputs in order.
absl::StatusOr<std::vector<ir::Expr>> RunNest(const loop::Nest& nest,
                                              const std::vector<ir::Expr>& args) {
  std::vector<void*> memory;
  std::vector<std::pair<loop::Buffer, Bytes>> outputs;
  for (const loop::Buffer& buffer : nest.buffers) {
    if (buffer->role == loop::Role::kOutput) {
      outputs.emplace_back(buffer, std::make_shared<std::string>(buffer->SizeBytes(), 0));
      memory.push_back(outputs.back().second->data());
    } else if (buffer->role == loop::Role::kWorkspace || buffer->role == loop::Role::kPrepared) {
      memory.push_back(nullptr);
    } else {  // a parameter, which no launch writes
      memory.push_back(const_cast<uint8_t*>(args[memory.size()]->data.bytes()));
    }
  }
  HONE_RETURN_IF_ERROR(loop::Interpret(nest, memory));
  std::vector<ir::Expr> results;
  for (const auto& [buffer, bytes] : outputs) results.push_back(ConstantOf(buffer, bytes));
  return results;
}

}  // namespace

absl::StatusOr<ir::Expr> EvaluateFunction(const ir::Expr& function,
                                          const std::vector<ir::Expr>& args) {
  const std::vector<ir::Expr> params = ir::Params(*function);
  for (size_t i = 0; i < params.size(); ++i) {
    const bool fits = i < args.size() && args[i]->kind == ir::ExprKind::kConstant &&
                      *args[i]->type == *params[i]->type;
    if (fits) continue;
    return absl::InvalidArgumentError(fmt::format(
        "argument {} was expected to be a constant {}, found {}", i, params[i]->type->ToString(),
        i < args.size() && args[i]->type ? args[i]->type->ToString() : "none"));
  }
  // Constants in the body become parameters too: kernels hold single numbers only.
  std::vector<ir::Expr> all_params = params;
  std::vector<ir::Expr> all_args(args.begin(), args.begin() + static_cast<int64_t>(params.size()));
  const ir::Expr body = ir::Rewrite(ir::Body(*function), [&](const ir::Expr& node) {
    if (node->kind != ir::ExprKind::kConstant) return node;
    all_params.push_back(ir::Var(fmt::format("c{}", all_params.size()), *node->type));
    all_args.push_back(node);
    return all_params.back();
  });
  const std::vector<bool> const_params(all_params.size(), true);
  HONE_ASSIGN_OR_RETURN(const KernelDefinition definition,
                        Define(TypedFunction(all_params, body, function->attrs), const_params));
  HONE_ASSIGN_OR_RETURN(std::vector<ir::Expr> results, RunNest(definition.naive, all_args));
  return body->type->is_tuple ? TypedTuple(std::move(results)) : results[0];
}

absl::StatusOr<ir::Expr> Evaluate(const ir::Expr& expr) {
  return EvaluateFunction(TypedFunction({}, expr), {});
}

}  // namespace hone::ops
