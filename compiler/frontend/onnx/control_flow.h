// Converts If, Loop, Scan and SequenceMap. Modules have no control flow between kernels other than
// repeats (ops/repeat.h).
#ifndef HONE_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_
#define HONE_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/node_scope.h"

namespace hone::frontend {

bool IsControlFlow(const std::string& op);

// The outputs of the node. The number of trips of a loop must be known at import, and is at most
// 1024 if the trips differ in more than values. An If whose condition is not known at import
// computes both branches, which must then have the same type. Otherwise the error is
// kUnimplemented.
absl::StatusOr<std::vector<ir::Expr>> ConvertControlFlow(NodeReader& node, const NodeScope& scope);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_
