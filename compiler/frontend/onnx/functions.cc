#include "compiler/frontend/onnx/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/frontend/onnx/node_cost.h"
#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// As deep as functions may call each other: each level takes some of the stack.
constexpr int kMostNested = 64;

// Walks the calls depth first; a function that is left is never entered again.
class CallWalk {
 public:
  explicit CallWalk(const OnnxFunctions& functions) : functions_(functions) {}

  // The levels of functions below the nodes.
  absl::StatusOr<int> Levels(const std::vector<OnnxNode>& nodes, int depth) {
    int levels = 0;
    for (const OnnxNode& node : nodes) {
      HONE_ASSIGN_OR_RETURN(const int of_node, LevelsOf(node, depth));
      levels = std::max(levels, of_node);
    }
    return levels;
  }

  std::vector<const OnnxFunction*> called() const {
    std::vector<const OnnxFunction*> result;
    for (const auto& [function, levels] : levels_) result.push_back(function);
    return result;
  }

 private:
  absl::StatusOr<int> LevelsOf(const OnnxNode& node, int depth) {
    int levels = 0;
    for (const auto& [name, attr] : node.attrs) {
      const auto* const subgraph = std::get_if<OnnxSubgraph>(&attr);
      if (subgraph == nullptr || !subgraph->graph) continue;
      HONE_ASSIGN_OR_RETURN(const int within, Levels(subgraph->graph->nodes, depth));
      levels = std::max(levels, within);
    }
    const OnnxFunction* const function = FindFunction(functions_, node);
    if (function == nullptr) return levels;
    HONE_ASSIGN_OR_RETURN(const int of_function, Enter(*function, node.op, depth + 1));
    return std::max(levels, of_function);
  }

  absl::StatusOr<int> Enter(const OnnxFunction& function, const std::string& name, int depth) {
    const auto [known, fresh] = levels_.emplace(&function, kUnderWay);
    if (!fresh && known->second == kUnderWay) {
      return absl::InvalidArgumentError(
          fmt::format("a function that calls no function around it was expected, but \"{}\" calls "
                      "itself, at once or through others; ONNX has no recursion",
                      name));
    }
    int levels = known->second;
    if (fresh && depth <= kMostNested) {
      HONE_ASSIGN_OR_RETURN(levels, Levels(function.nodes, depth));
      levels_[&function] = ++levels;
    }
    if (depth + levels - 1 <= kMostNested && depth <= kMostNested) return levels;
    return absl::UnimplementedError(
        fmt::format("functions that nest up to {} deep were expected, found deeper ones at \"{}\"; "
                    "inline some of them",
                    kMostNested, name));
  }

  static constexpr int kUnderWay = -1;
  const OnnxFunctions& functions_;
  std::map<const OnnxFunction*, int> levels_;
};

absl::StatusOr<OnnxAttrs> AttributesOf(NodeReader& call, const OnnxFunction& function) {
  OnnxAttrs attrs = function.defaults;
  for (const std::string& name : function.attrs) {
    if (const OnnxAttr* const given = call.Raw(name)) attrs.insert_or_assign(name, *given);
  }
  return attrs;
}

}  // namespace

const OnnxFunction* FindFunction(const OnnxFunctions& functions, const OnnxNode& node) {
  if (functions.empty()) return nullptr;
  const auto it = functions.find({node.op, node.overload});
  return it == functions.end() ? nullptr : &it->second;
}

absl::StatusOr<std::vector<const OnnxFunction*>> FunctionsCalled(
    const OnnxFunctions& functions, const std::vector<OnnxNode>& nodes) {
  CallWalk walk(functions);
  HONE_RETURN_IF_ERROR(walk.Levels(nodes, 0).status());
  return walk.called();
}

absl::StatusOr<OnnxNode> WithAttributes(const OnnxNode& node, const OnnxAttrs* attrs) {
  OnnxNode resolved = node;
  for (const auto& [name, ref] : node.attr_refs) {
    if (attrs == nullptr) {
      return absl::InvalidArgumentError(fmt::format(
          "its attribute {} refers to \"{}\" of a function around it, but it is in none", name,
          ref));
    }
    const auto value = attrs->find(ref);
    if (value == attrs->end()) continue;
    // Its nodes would read the caller's tensors, and nobody has looked at what it calls.
    if (std::holds_alternative<OnnxSubgraph>(value->second)) {
      return absl::UnimplementedError(fmt::format(
          "its attribute {} is a graph that reaches a function as its attribute \"{}\", and Hone "
          "takes graphs where they stand only; put the graph into the function",
          name, ref));
    }
    resolved.attrs.insert_or_assign(name, value->second);
  }
  resolved.attr_refs.clear();
  return resolved;
}

Results CallFunction(NodeReader& call, const OnnxFunction& function, const NodeScope& caller) {
  if (call.size() > function.inputs.size()) {
    return absl::InvalidArgumentError(fmt::format("the function has {} inputs, and is given {}",
                                                  function.inputs.size(), call.size()));
  }
  if (call.node().outputs.size() > function.outputs.size()) {
    return absl::InvalidArgumentError(fmt::format("the function has {} outputs, {} were expected",
                                                  function.outputs.size(),
                                                  call.node().outputs.size()));
  }
  if (call.node().gives_four_bit) {  // what reads it within could not be told that it is
    return absl::UnimplementedError(
        "Hone has no 4-bit integers as attributes of functions; put the tensor into the function");
  }
  HONE_RETURN_IF_ERROR(call.Unroll(CostOf(function.nodes) + 1));
  HONE_ASSIGN_OR_RETURN(const OnnxAttrs attrs, AttributesOf(call, function));
  NodeScope scope(caller, call, function, &attrs);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    if (call.Has(i)) {
      HONE_RETURN_IF_ERROR(scope.Define(function.inputs[i], call.args()[i]));
      for (const Trait trait : kTraits) {
        if (call.Has(i, trait)) scope.SetTrait(function.inputs[i], trait);
      }
    } else {
      scope.LeaveOut(function.inputs[i]);
    }
  }
  HONE_RETURN_IF_ERROR(scope.Convert(function.nodes));
  std::vector<std::string> wanted = function.outputs;
  wanted.resize(std::min(wanted.size(), call.node().outputs.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    for (const Trait trait : kTraits) {
      if (scope.Has(wanted[i], trait)) call.GiveTrait(i, trait);
    }
  }
  return scope.Outputs(wanted);
}

}  // namespace hone::frontend
