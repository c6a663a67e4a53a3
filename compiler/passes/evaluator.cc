#include "compiler/passes/evaluator.h"

#include <memory>

#include "compiler/loop/interpreter.h"
#include "compiler/ops/lower.h"
#include "compiler/passes/rewriting.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

bool IsView(const ir::ExprNode& call) {
  if (call.callee) return false;
  return call.name == "reshape" || call.name == "expand_dims" || call.name == "squeeze" ||
         call.name == "nn.batch_flatten" || call.name == "copy" || call.name == "layout_transform";
}

// `call` as a function of its constant tensors, which are appended to `constants`.
Expr AsFunction(const Expr& call, std::vector<Expr>* constants) {
  std::vector<Expr> params;
  const auto param = [&](const Expr& constant) {
    constants->push_back(constant);
    params.push_back(ir::Var("p" + std::to_string(params.size()), *constant->type));
    return params.back();
  };
  std::vector<Expr> args;
  for (const Expr& arg : call->args) {
    if (arg->kind != ExprKind::kTuple) {
      args.push_back(param(arg));
      continue;
    }
    std::vector<Expr> fields;
    for (const Expr& field : arg->args) fields.push_back(param(field));
    args.push_back(ir::WithType(ir::Tuple(std::move(fields)), *arg->type));
  }
  Expr body = ir::WithOperands(call, nullptr, std::move(args));
  return ir::WithType(ir::Function(std::move(params), body, {{"primitive", true}}), *call->type);
}

absl::StatusOr<std::vector<Expr>> Evaluate(const Expr& call) {
  if (IsView(*call))
    return std::vector<Expr>{ir::Constant(call->type->tensor, call->args[0]->data)};
  std::vector<Expr> constants;
  Expr function = call->callee;
  if (function) {
    constants = call->args;
  } else {
    function = AsFunction(call, &constants);
  }
  HONE_ASSIGN_OR_RETURN(const ops::KernelDefinition kernel,
                        ops::Lower(function, std::vector<bool>(constants.size(), true)));
  const std::vector<ir::TensorType> types = TensorsOf(*call->type);
  std::vector<void*> buffers(kernel.naive.buffers.size(), nullptr);
  for (size_t i = 0; i < constants.size(); ++i) {  // only read
    buffers[i] = const_cast<uint8_t*>(constants[i]->data.bytes());
  }
  std::vector<Expr> results;
  for (size_t i = 0; i < types.size(); ++i) {  // the outputs are the last buffers
    const size_t size = static_cast<size_t>(types[i].SizeBytes());
    std::shared_ptr<uint8_t[]> bytes(new uint8_t[size + 1]);
    uint8_t* const data = bytes.get();
    buffers[buffers.size() - types.size() + i] = data;
    results.push_back(ir::Constant(types[i], {std::move(bytes), data, size}));
  }
  HONE_RETURN_IF_ERROR(loop::Interpret(kernel.naive, buffers));
  return results;
}

}  // namespace

Evaluator DefaultEvaluator() { return Evaluate; }

}  // namespace hone::passes
