#include "compiler/frontend/tensorflow/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "compiler/frontend/name_list.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

using ByName = std::unordered_map<std::string_view, const Node*>;

absl::StatusOr<ByName> NodesByName(const Graph& graph) {
  ByName nodes;
  for (const Node& node : graph.nodes) {
    if (!nodes.emplace(node.name, &node).second) {
      return absl::InvalidArgumentError(
          fmt::format("the graph has two nodes named \"{}\"", node.name));
    }
  }
  return nodes;
}

bool GivesNothing(const Node& node) {
  return node.op == "NoOp" || node.op == "Const" || node.op == "Placeholder" || node.op == "Assert";
}

std::vector<Order::Output> OutputsOf(const Graph& graph) {
  std::unordered_set<std::string_view> read;
  for (const Node& node : graph.nodes) {
    if (node.op == "Assert") continue;
    for (const Input& input : node.inputs) read.insert(input.node);
  }
  std::vector<Order::Output> outputs;
  for (const Node& node : graph.nodes) {
    if (!read.contains(node.name) && !GivesNothing(node)) outputs.push_back({&node, std::nullopt});
  }
  return outputs;
}

// "node" or "node:1".
absl::StatusOr<Order::Output> OutputNamed(const std::string& name, const ByName& nodes) {
  if (const auto whole = nodes.find(name); whole != nodes.end())
    return Order::Output{whole->second, 0};
  const size_t colon = name.rfind(':');
  size_t output = 0;
  if (colon != std::string::npos) {
    const char* const end = name.data() + name.size();
    const auto [last, error] = std::from_chars(name.data() + colon + 1, end, output);
    const auto node = nodes.find(std::string_view(name).substr(0, colon));
    if (error == std::errc() && last == end && node != nodes.end()) {
      return Order::Output{node->second, output};
    }
  }
  return absl::InvalidArgumentError(
      fmt::format("--cut {}: the name of a node was expected, or one with the number of its "
                  "result behind a colon; the graph has no such node",
                  ShellWord(name)));
}

absl::StatusOr<std::vector<Order::Output>> OutputsNamed(const std::vector<std::string>& names,
                                                        const ByName& nodes) {
  std::vector<Order::Output> outputs;
  for (const std::string& name : names) {
    HONE_ASSIGN_OR_RETURN(const Order::Output output, OutputNamed(name, nodes));
    const bool is_new = std::none_of(outputs.begin(), outputs.end(), [&](const auto& other) {
      return other.node == output.node && other.output == output.output;
    });
    if (!is_new) {
      return absl::InvalidArgumentError(
          fmt::format("--cut {} was expected once, found twice", ShellWord(name)));
    }
    outputs.push_back(output);
  }
  return outputs;
}

// Depth first, with a stack of its own: files may nest as deep as they like.
class Visit {
 public:
  explicit Visit(const ByName& nodes) : nodes_(nodes) {}

  absl::Status From(const Node* root, std::vector<const Node*>* order) {
    Enter(root);
    while (!stack_.empty()) {
      const Node* const node = stack_.back().node;
      if (stack_.back().next == node->inputs.size()) {
        done_[node] = true;
        order->push_back(node);
        stack_.pop_back();
        continue;
      }
      const Input& input = node->inputs[stack_.back().next++];
      const auto operand = nodes_.find(input.node);
      if (operand == nodes_.end()) {
        return absl::InvalidArgumentError(
            fmt::format("node \"{}\" ({}) reads \"{}\", which is not in the graph", node->name,
                        node->op, input.node));
      }
      const auto seen = done_.find(operand->second);
      if (seen == done_.end()) {
        Enter(operand->second);
      } else if (!seen->second) {
        return absl::InvalidArgumentError(
            fmt::format("node \"{}\" ({}) is computed from itself: Hone has no loops of TensorFlow",
                        node->name, node->op));
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Frame {
    const Node* node;
    size_t next = 0;
  };

  void Enter(const Node* node) {
    if (done_.emplace(node, false).second) stack_.push_back({node});
  }

  const ByName& nodes_;
  std::unordered_map<const Node*, bool> done_;
  std::vector<Frame> stack_;
};

}  // namespace

absl::StatusOr<Order> OrderOf(const Graph& graph, const std::vector<std::string>& outputs) {
  HONE_ASSIGN_OR_RETURN(const ByName nodes, NodesByName(graph));
  Order order;
  if (outputs.empty()) {
    order.outputs = OutputsOf(graph);
  } else {
    HONE_ASSIGN_OR_RETURN(order.outputs, OutputsNamed(outputs, nodes));
  }
  if (order.outputs.empty()) {
    return absl::InvalidArgumentError(
        "expected a node that no other reads, which is an output; found none");
  }
  Visit visit(nodes);
  for (const Order::Output& output : order.outputs) {
    HONE_RETURN_IF_ERROR(visit.From(output.node, &order.nodes));
  }
  return order;
}

}  // namespace hone::frontend::tf
