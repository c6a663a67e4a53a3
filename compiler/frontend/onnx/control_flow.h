// If, Loop, Scan and SequenceMap: modules have no control flow between kernels but repeats.
#ifndef HONE_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_
#define HONE_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/node_scope.h"

namespace hone::frontend {

bool IsControlFlow(const std::string& op);

// The node's outputs. Trips of loops must be known at import, and are at most 1024 where they
// differ in more than values; an If whose condition is not known computes both branches, where they
// have one type. kUnimplemented where that cannot be.
absl::StatusOr<std::vector<ir::Expr>> ConvertControlFlow(NodeReader& node, const NodeScope& scope);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_
