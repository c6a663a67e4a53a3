#include "compiler/frontend/onnx/subgraph.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "support/status.h"

namespace hone::frontend {

absl::StatusOr<const OnnxGraph*> SubgraphOf(NodeReader& node, const std::string& name) {
  const OnnxAttr* const attr = node.Raw(name);
  const auto* const subgraph = attr == nullptr ? nullptr : std::get_if<OnnxSubgraph>(attr);
  if (subgraph != nullptr && subgraph->graph) return subgraph->graph.get();
  return absl::InvalidArgumentError(fmt::format("attribute {} was expected to be a graph", name));
}

Results RunGraph(const OnnxGraph& graph, const NodeScope& around,
                 const std::vector<ir::Expr>& inputs, const std::string& place) {
  if (inputs.size() != graph.inputs.size()) {
    return absl::InvalidArgumentError(fmt::format("its graph has {} inputs, and is given {}",
                                                  graph.inputs.size(), inputs.size()));
  }
  NodeScope scope(&around, place);
  for (const auto& [name, value] : graph.sparse_initializers) {
    HONE_RETURN_IF_ERROR(scope.DefineSparse(name, value));
  }
  for (const auto& [name, value] : graph.initializers) {
    HONE_RETURN_IF_ERROR(scope.Define(name, value));
  }
  for (const std::string& name : graph.four_bit) scope.SetTrait(name, Trait::kFourBit);
  for (size_t i = 0; i < inputs.size(); ++i) {
    HONE_RETURN_IF_ERROR(scope.Define(graph.inputs[i], inputs[i]));
  }
  HONE_RETURN_IF_ERROR(scope.Convert(graph.nodes));
  for (const std::string& output : graph.outputs) {
    if (!scope.Has(output, Trait::kFourBit) && !scope.Has(output, Trait::kBounded)) continue;
    return absl::UnimplementedError(fmt::format(
        "\"{}\", an output of its graph, is of {}, which Hone has within a graph only", output,
        scope.Has(output, Trait::kFourBit) ? "4-bit integers" : "rows whose number is not known"));
  }
  return scope.Outputs(graph.outputs);
}

std::string PlaceOf(const NodeReader& node, int64_t trip) {
  return fmt::format("{}[{}]/", FirstResult(node.node()), trip);
}

Results RunRepeated(const OnnxGraph& graph, const NodeScope& around,
                    const std::vector<ir::Expr>& inputs) {
  around.SetInRepeat(true);
  Results results = RunGraph(graph, around, inputs);
  around.SetInRepeat(false);
  return results;
}

absl::Status CheckTensors(const std::vector<ir::Expr>& values) {
  for (const ir::Expr& e : values) {
    if (!e->type->IsTensor()) {
      return absl::InvalidArgumentError("tensors were expected of its body, found a sequence");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> KnownCondition(const ir::Expr& e) {
  HONE_RETURN_IF_ERROR(CheckTensors({e}));
  HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(e, "the condition"));
  if (numbers.size() == 1) return numbers[0] != 0;
  return absl::InvalidArgumentError("the condition was expected to be one bool");
}

Results Stack(const std::vector<std::vector<ir::Expr>>& columns, const Shape& axes) {
  std::vector<ir::Expr> results;
  for (size_t i = 0; i < columns.size(); ++i) {
    HONE_RETURN_IF_ERROR(CheckTensors(columns[i]));
    std::vector<ir::Expr> parts;
    for (const ir::Expr& e : columns[i]) {
      HONE_ASSIGN_OR_RETURN(ir::Expr part, Emit("expand_dims", {e}, {{"axis", axes[i]}}));
      parts.push_back(std::move(part));
    }
    HONE_ASSIGN_OR_RETURN(ir::Expr stacked, ConcatenationOf(std::move(parts), axes[i]));
    results.push_back(std::move(stacked));
  }
  return results;
}

}  // namespace hone::frontend
