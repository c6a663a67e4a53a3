// Model-local functions, inlined at import: a call converts the function's nodes in a scope of its
// own.
#ifndef HONE_COMPILER_FRONTEND_ONNX_FUNCTIONS_H_
#define HONE_COMPILER_FRONTEND_ONNX_FUNCTIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/model.h"
#include "compiler/frontend/onnx/node_scope.h"

namespace hone::frontend {

// nullptr where the node is no call of one.
const OnnxFunction* FindFunction(const OnnxFunctions& functions, const OnnxNode& node);

// Those that `nodes` call, and those that these call. kInvalidArgument where one calls itself, also
// through others; kUnimplemented where calls nest deeper than Hone follows them.
absl::StatusOr<std::vector<const OnnxFunction*>> FunctionsCalled(
    const OnnxFunctions& functions, const std::vector<OnnxNode>& nodes);

// The node with its references to the attributes of the function around it resolved; one to an
// attribute that the call leaves out is left out, too. `attrs` is null outside of functions.
absl::StatusOr<OnnxNode> WithAttributes(const OnnxNode& node, const OnnxAttrs* attrs);

// The outputs of the function for the operands and attributes of the call. Its nodes are charged
// to the model's allowance.
absl::StatusOr<std::vector<ir::Expr>> CallFunction(NodeReader& call, const OnnxFunction& function,
                                                   const NodeScope& caller);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_FUNCTIONS_H_
