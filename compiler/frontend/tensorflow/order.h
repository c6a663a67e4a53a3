// Which nodes of a graph an import converts, and in which order: files hold them in any.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_ORDER_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_ORDER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/tensorflow/graph.h"

namespace hone::frontend::tf {

struct Order {
  std::vector<const Node*> nodes;    // what the outputs are computed from, operands first
  std::vector<const Node*> outputs;  // in the order of the file
};

// A GraphDef names no outputs: they are the nodes that no other reads, but for constants, inputs
// and nodes of no value. kInvalidArgument: nodes of one name, an operand that is not there, a
// cycle, no output. The graph must outlive the result.
absl::StatusOr<Order> OrderOf(const Graph& graph);

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_ORDER_H_
