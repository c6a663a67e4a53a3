#include "compiler/frontend/onnx/control_flow.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/frontend/onnx/loop.h"
#include "compiler/frontend/onnx/node_cost.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/scan.h"
#include "compiler/frontend/onnx/sequence.h"
#include "compiler/frontend/onnx/subgraph.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// Whether the graph inputs that decide the condition have values at hand: then one branch is
// enough.
bool IsAtHand(const ir::Expr& condition, const NodeScope& scope) {
  bool reads_inputs = false;
  for (const ir::Expr& e : ir::PostOrder(condition)) {
    if (e->kind != ir::ExprKind::kVar) continue;
    if (!scope.state().small_values.contains(e->name)) return false;
    reads_inputs = true;
  }
  return reads_inputs;
}

// A branch that may be taken or not at run time. One that cannot be compiled does not matter where
// it is never taken: the condition's value would tell.
Results BranchAtRunTime(const ir::Expr& condition, std::string_view name, const OnnxGraph& graph,
                        const NodeScope& scope) {
  Results results = RunGraph(graph, scope, {});
  if (results.ok()) return results;
  return NeedsValue(condition,
                    fmt::format("its condition is computed at run time, and its {} cannot be "
                                "compiled for these inputs ({})",
                                name, std::string(results.status().message())));
}

Results If(NodeReader& node, const NodeScope& scope) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr condition, node.Arg(0, "cond"));
  HONE_ASSIGN_OR_RETURN(const OnnxGraph* const then, SubgraphOf(node, "then_branch"));
  HONE_ASSIGN_OR_RETURN(const OnnxGraph* const otherwise, SubgraphOf(node, "else_branch"));
  if (const absl::StatusOr<ir::Expr> known = ConstantOf(condition); known.ok()) {
    HONE_ASSIGN_OR_RETURN(const bool holds, KnownCondition(*known));
    return RunGraph(holds ? *then : *otherwise, scope, {});
  }
  if (IsAtHand(condition, scope)) return NeedsValue(condition, "its condition is at hand");
  HONE_ASSIGN_OR_RETURN(const auto a, BranchAtRunTime(condition, "then_branch", *then, scope));
  HONE_ASSIGN_OR_RETURN(const auto b, BranchAtRunTime(condition, "else_branch", *otherwise, scope));
  HONE_ASSIGN_OR_RETURN(const ir::Expr scalar, ReshapedTo(condition, {}));
  std::vector<ir::Expr> results;
  for (size_t i = 0; i < a.size(); ++i) {
    if (i >= b.size() || !a[i]->type->IsTensor() || !(*a[i]->type == *b[i]->type)) {
      return NeedsValue(
          condition,
          "its condition is computed at run time and its branches differ in type; Hone compiles "
          "static shapes");
    }
    HONE_ASSIGN_OR_RETURN(ir::Expr e, Emit("where", {scalar, a[i], b[i]}));
    results.push_back(std::move(e));
  }
  return results;
}

// Runs its body on each item of a sequence; of other sequences it takes the item at the same place.
Results SequenceMap(NodeReader& node, const NodeScope& scope) {
  HONE_ASSIGN_OR_RETURN(const OnnxGraph* const body, SubgraphOf(node, "body"));
  for (size_t i = 0; i < node.size(); ++i) HONE_RETURN_IF_ERROR(node.Arg(i, "input").status());
  if (node.size() == 0 || !IsSequence(node.args()[0])) {
    return absl::InvalidArgumentError("a sequence was expected as its first operand");
  }
  const size_t count = node.args()[0]->args.size();
  std::vector<std::vector<ir::Expr>> columns(body->outputs.size());
  for (size_t item = 0; item < count; ++item) {
    HONE_RETURN_IF_ERROR(node.Unroll(CostOf(*body)));
    std::vector<ir::Expr> inputs;
    for (const ir::Expr& e : node.args()) {
      if (IsSequence(e) && item >= e->args.size()) {
        return absl::InvalidArgumentError("sequences of one length were expected");
      }
      inputs.push_back(IsSequence(e) ? e->args[item] : e);
    }
    HONE_ASSIGN_OR_RETURN(const auto outputs, RunGraph(*body, scope, inputs,
                                                       PlaceOf(node, static_cast<int64_t>(item))));
    for (size_t i = 0; i < outputs.size(); ++i) columns[i].push_back(outputs[i]);
  }
  std::vector<ir::Expr> results;
  for (std::vector<ir::Expr>& column : columns) {
    HONE_RETURN_IF_ERROR(CheckTensors(column));
    HONE_ASSIGN_OR_RETURN(ir::Expr sequence, SequenceOf(node, std::move(column)));
    results.push_back(std::move(sequence));
  }
  return results;
}

}  // namespace

bool IsControlFlow(const std::string& op) {
  return op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap";
}

absl::StatusOr<std::vector<ir::Expr>> ConvertControlFlow(NodeReader& node, const NodeScope& scope) {
  if (node.node().op == "If") return If(node, scope);
  if (node.node().op == "Loop") return ConvertLoop(node, scope);
  if (node.node().op == "SequenceMap") return SequenceMap(node, scope);
  return ConvertScan(node, scope);
}

}  // namespace hone::frontend
