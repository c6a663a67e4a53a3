#include "compiler/frontend/onnx/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/frontend/cut_advice.h"
#include "compiler/frontend/name_list.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using Names = std::set<std::string>;

// What a node reads; of graphs within it, also what they name of their own: too much does no harm.
void AddNamesRead(const OnnxNode& node, std::vector<std::string>& names) {
  names.insert(names.end(), node.inputs.begin(), node.inputs.end());
  for (const auto& [name, attr] : node.attrs) {
    const auto* const subgraph = std::get_if<OnnxSubgraph>(&attr);
    if (subgraph == nullptr || !subgraph->graph) continue;
    const OnnxGraph& graph = *subgraph->graph;
    names.insert(names.end(), graph.outputs.begin(), graph.outputs.end());
    for (const OnnxNode& inner : graph.nodes) AddNamesRead(inner, names);
  }
}

std::vector<std::string> NamesRead(const OnnxNode& node) {
  std::vector<std::string> names;
  AddNamesRead(node, names);
  return names;
}

bool AnyOf(const std::vector<std::string>& names, const Names& set) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return !name.empty() && set.contains(name); });
}

bool HasInput(const std::vector<OnnxInput>& inputs, const std::string& name) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const OnnxInput& input) { return input.name == name; });
}

absl::Status CheckHas(const OnnxModel& model, const std::string& name) {
  const bool has =
      HasInput(model.inputs, name) || model.initializers.contains(name) ||
      model.sparse_initializers.contains(name) ||
      std::any_of(model.nodes.begin(), model.nodes.end(), [&](const OnnxNode& node) {
        return std::find(node.outputs.begin(), node.outputs.end(), name) != node.outputs.end();
      });
  if (has && !name.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--cut {}: a value of the model's main graph was expected, which has none of "
                  "that name; its outputs are {}",
                  ShellWord(name), ShortList(model.outputs, /*most=*/8)));
}

}  // namespace

absl::Status CutAt(const std::vector<std::string>& outputs, OnnxModel& model) {
  Names needed;
  for (const std::string& output : outputs) {
    HONE_RETURN_IF_ERROR(CheckHas(model, output));
    if (needed.insert(output).second) continue;
    return absl::InvalidArgumentError(
        fmt::format("--cut {} was expected once, found twice", ShellWord(output)));
  }
  std::vector<OnnxNode> kept;
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    if (!AnyOf(node->outputs, needed)) continue;
    for (std::string& name : NamesRead(*node)) needed.insert(std::move(name));
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  model.nodes = std::move(kept);
  for (std::vector<OnnxInput>* const inputs : {&model.inputs, &model.defaulted}) {
    const auto rest =
        std::stable_partition(inputs->begin(), inputs->end(),
                              [&](const OnnxInput& input) { return needed.contains(input.name); });
    model.left_out.insert(model.left_out.end(), rest, inputs->end());
    inputs->erase(rest, inputs->end());
  }
  model.outputs = outputs;
  return absl::OkStatus();
}

std::vector<std::string> PlacesToCut(const OnnxModel& model, NodeScope& scope) {
  Names lost;
  std::vector<std::string> candidates = model.outputs;
  for (const OnnxNode& node : model.nodes) {
    const std::vector<std::string> read = NamesRead(node);
    if (!AnyOf(read, lost) && scope.Convert(node).ok()) continue;
    lost.insert(node.outputs.begin(), node.outputs.end());
    candidates.insert(candidates.end(), read.begin(), read.end());
  }
  if (lost.empty()) return {};
  return PlacesAmong(candidates, [&](const std::string& name) {
    const ir::Expr* const value = lost.contains(name) ? nullptr : scope.Find(name);
    return value == nullptr ? ir::Expr() : *value;
  });
}

}  // namespace hone::frontend
