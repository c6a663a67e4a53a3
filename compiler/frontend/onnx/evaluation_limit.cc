#include "compiler/frontend/onnx/evaluation_limit.h"

#include <algorithm>
#include <vector>

#include "compiler/ops/op.h"

namespace hone::frontend {
namespace {

thread_local EvaluationLimit* current = nullptr;

double ElementsOf(const ir::Type& type) {
  if (type.IsTensor()) return static_cast<double>(type.tensor.ElementCount());
  double elements = 0;
  for (const ir::Type& field : type.fields) elements += ElementsOf(field);
  return elements;
}

// What it takes to make a nest of the node and to run it.
double OperationsOf(const ir::ExprNode& node, size_t together) {
  // A nest of many stages is walked for each of them.
  constexpr double kOfANode = 3000;
  constexpr double kStagesForAsMuch = 32;
  const double elements =
      kOfANode * (1 + static_cast<double>(together) / kStagesForAsMuch) + ElementsOf(*node.type);
  const ops::Op* const op = node.kind == ir::ExprKind::kCall ? ops::FindOp(node.name) : nullptr;
  if (op == nullptr || !op->flops) return elements;
  std::vector<ir::Type> types;
  for (const ir::Expr& arg : node.args) types.push_back(*arg->type);
  return std::max(elements, op->flops(types, node.attrs, *node.type));
}

}  // namespace

EvaluationLimit::EvaluationLimit() : around_(current) { current = this; }

EvaluationLimit::~EvaluationLimit() { current = around_; }

absl::Status EvaluationLimit::Charge(const ir::ExprNode& node, size_t together) {
  if (current == nullptr) return absl::OkStatus();
  current->operations_left_ -= OperationsOf(node, together);
  if (current->operations_left_ >= 0) return absl::OkStatus();
  return absl::UnimplementedError("more than an import computes");
}

}  // namespace hone::frontend
