#include "compiler/frontend/onnx/node_cost.h"

#include <variant>

namespace hone::frontend {
namespace {

constexpr size_t kOperandsOfANode = 8;

int64_t CostOf(size_t inputs, size_t outputs) {
  return 1 + static_cast<int64_t>((inputs + outputs) / kOperandsOfANode);
}

}  // namespace

int64_t CostOf(const std::vector<OnnxNode>& nodes) {
  int64_t cost = 0;
  for (const OnnxNode& node : nodes) {
    cost += CostOf(node.inputs.size(), node.outputs.size());
    for (const auto& [name, attr] : node.attrs) {
      const auto* const subgraph = std::get_if<OnnxSubgraph>(&attr);
      if (subgraph != nullptr && subgraph->graph) cost += CostOf(*subgraph->graph);
    }
  }
  return cost;
}

int64_t CostOf(const OnnxGraph& graph) {
  return CostOf(graph.inputs.size(), graph.outputs.size()) + CostOf(graph.nodes);
}

}  // namespace hone::frontend
