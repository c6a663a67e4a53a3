// Graphs that are attributes of nodes: branches, and bodies of loops.
#ifndef HONE_COMPILER_FRONTEND_ONNX_SUBGRAPH_H_
#define HONE_COMPILER_FRONTEND_ONNX_SUBGRAPH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/node_scope.h"
#include "compiler/frontend/onnx/results.h"

namespace hone::frontend {

// The graph that is the node's attribute of this name; kInvalidArgument if there is none.
absl::StatusOr<const OnnxGraph*> SubgraphOf(NodeReader& node, const std::string& name);

// Converts a graph within the scope `around` for these inputs, and returns its outputs. `place`
// tells trips of a loop apart.
Results RunGraph(const OnnxGraph& graph, const NodeScope& around,
                 const std::vector<ir::Expr>& inputs, const std::string& place = "");
// The `place` for trip `trip` of the loop `node`.
std::string PlaceOf(const NodeReader& node, int64_t trip);
// RunGraph for the body of a repeat, which is the same in all trips.
Results RunRepeated(const OnnxGraph& graph, const NodeScope& around,
                    const std::vector<ir::Expr>& inputs);

// kInvalidArgument if one of the values is a sequence.
absl::Status CheckTensors(const std::vector<ir::Expr>& values);

// The value of a condition that does not depend on graph inputs.
absl::StatusOr<bool> KnownCondition(const ir::Expr& e);

// Stacks what the trips of a loop give: the values in columns[i], one a trip, along a new axis
// axes[i].
Results Stack(const std::vector<std::vector<ir::Expr>>& columns, const Shape& axes);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_SUBGRAPH_H_
