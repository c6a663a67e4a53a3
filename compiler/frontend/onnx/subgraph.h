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

// The node's attribute of this name.
absl::StatusOr<const OnnxGraph*> SubgraphOf(NodeReader& node, const std::string& name);

// The outputs of a graph within `around` on these inputs; `place` tells trips of a loop apart.
Results RunGraph(const OnnxGraph& graph, const NodeScope& around,
                 const std::vector<ir::Expr>& inputs, const std::string& place = "");
// The place of a trip of a loop.
std::string PlaceOf(const NodeReader& node, int64_t trip);
// The same of a body that is repeated.
Results RunRepeated(const OnnxGraph& graph, const NodeScope& around,
                    const std::vector<ir::Expr>& inputs);

// kInvalidArgument where one is a sequence.
absl::Status CheckTensors(const std::vector<ir::Expr>& values);

// The value of a condition that does not depend on graph inputs.
absl::StatusOr<bool> KnownCondition(const ir::Expr& e);

// What the trips of a loop give one after the other, along a new axis.
Results Stack(const std::vector<std::vector<ir::Expr>>& columns, const Shape& axes);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_SUBGRAPH_H_
