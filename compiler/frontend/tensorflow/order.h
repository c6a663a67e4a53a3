// Which nodes of a graph an import converts, and in which order. Files hold nodes in any order.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_ORDER_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_ORDER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tensorflow/graph.h"

namespace hone::frontend::tf {

struct Order {
  struct Output {
    const Node* node;
    std::optional<size_t> output;  // one of the node's results; nullopt: all of them
  };
  std::vector<const Node*> nodes;  // what the outputs are computed from, operands first
  std::vector<Output> outputs;     // in the order of the file, or as they are asked for
};

// A GraphDef names no outputs. They are those in `outputs` ("node" or "node:1"), or, if that is
// empty, the nodes that no other node reads, except for constants, inputs and nodes without a
// value. kInvalidArgument: two nodes have one name, an operand is not in the graph, there is a
// cycle or no output, or the graph does not have a node that `outputs` names. The graph must
// outlive the result.
absl::StatusOr<Order> OrderOf(const Graph& graph, const std::vector<std::string>& outputs = {});

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_ORDER_H_
