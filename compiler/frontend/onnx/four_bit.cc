#include "compiler/frontend/onnx/four_bit.h"

#include <fmt/format.h>

#include "compiler/frontend/onnx/functions.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using Names = std::set<std::string>;

// Operators whose results are elements of their first operand.
bool Moves(const std::string& op) {
  static const auto* const operators = new Names{
      "Concat",  "Expand", "Flatten", "Gather",  "GatherElements", "GatherND",  "Identity",
      "Reshape", "Slice",  "Split",   "Squeeze", "Tile",           "Transpose", "Unsqueeze"};
  return operators->contains(op);
}

// Operators that make another type of the operand, or look at its shape alone.
bool Reads(const std::string& op, size_t operand) {
  if (op == "DequantizeLinear") return operand != 1;
  return operand == 0 && (op == "Cast" || op == "CastLike" || op == "Shape" || op == "Size");
}

class Walk {
 public:
  explicit Walk(const OnnxFunctions& functions) : functions_(functions) {}

  // `names` are the 4-bit tensors around the nodes.
  absl::Status Graph(const std::vector<OnnxNode>& nodes, const std::vector<std::string>& outputs,
                     Names names) const {
    for (const OnnxNode& node : nodes) HONE_RETURN_IF_ERROR(Node(node, names));
    for (const std::string& output : outputs) {
      if (!names.contains(output)) continue;
      return absl::UnimplementedError(fmt::format(
          "the output \"{}\" is of 4-bit integers, which Hone has as constants only", output));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Node(const OnnxNode& node, Names& names) const {
    bool moves = node.gives_four_bit;
    const bool is_call = FindFunction(functions_, node) != nullptr;
    if (is_call && node.gives_four_bit) {
      return absl::UnimplementedError(fmt::format(
          "node \"{}\" ({}): Hone has no 4-bit integers as attributes of functions; put "
          "the tensor into the function",
          node.name, node.op));
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!names.contains(node.inputs[i])) continue;
      if (!is_call && Moves(node.op)) {
        moves = true;
      } else if (is_call || !Reads(node.op, i)) {
        return absl::UnimplementedError(
            fmt::format("node \"{}\" ({}): Hone moves, casts and dequantises constants of 4-bit "
                        "integers, but \"{}\" goes into something else",
                        node.name, node.op, node.inputs[i]));
      }
    }
    for (const auto& [name, attr] : node.attrs) {
      const auto* const subgraph = std::get_if<OnnxSubgraph>(&attr);
      if (subgraph == nullptr || !subgraph->graph) continue;
      HONE_RETURN_IF_ERROR(Within(*subgraph->graph, names));
    }
    if (moves) names.insert(node.outputs.begin(), node.outputs.end());
    return absl::OkStatus();
  }

  absl::Status Within(const OnnxGraph& graph, Names names) const {
    for (const std::string& input : graph.inputs) names.erase(input);
    for (const auto& [name, value] : graph.initializers) names.erase(name);
    names.insert(graph.four_bit.begin(), graph.four_bit.end());
    return Graph(graph.nodes, graph.outputs, std::move(names));
  }

  const OnnxFunctions& functions_;
};

}  // namespace

absl::Status CheckFourBitUses(const OnnxModel& model) {
  const Walk walk(model.functions);
  HONE_RETURN_IF_ERROR(walk.Graph(model.nodes, model.outputs, model.four_bit));
  for (const auto& [name, function] : model.functions) {
    HONE_RETURN_IF_ERROR(walk.Graph(function.nodes, function.outputs, {}));
  }
  return absl::OkStatus();
}

}  // namespace hone::frontend
