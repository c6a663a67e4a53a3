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

// The function that the node calls; nullptr if it calls none.
const OnnxFunction* FindFunction(const OnnxFunctions& functions, const OnnxNode& node);

// The functions that `nodes` call, directly or through other functions. kInvalidArgument if one
// calls itself, also through others; kUnimplemented if calls nest deeper than Hone follows them.
absl::StatusOr<std::vector<const OnnxFunction*>> FunctionsCalled(
    const OnnxFunctions& functions, const std::vector<OnnxNode>& nodes);

// The node with the values of attributes that refer to an attribute of the function around it. If
// the call leaves that out, the node's attribute is left out, too. `attrs` are the function's
// attributes; null outside of functions, where such a reference is kInvalidArgument.
absl::StatusOr<OnnxNode> WithAttributes(const OnnxNode& node, const OnnxAttrs* attrs);

// The outputs of the function for the operands and attributes of the call. Its nodes are charged
// to the model's allowance.
absl::StatusOr<std::vector<ir::Expr>> CallFunction(NodeReader& call, const OnnxFunction& function,
                                                   const NodeScope& caller);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_FUNCTIONS_H_
