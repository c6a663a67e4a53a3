// Sequences and optionals of ONNX. During the import they are tuples with known items; the graph
// that is imported has none of them.
#ifndef HONE_COMPILER_FRONTEND_ONNX_SEQUENCE_H_
#define HONE_COMPILER_FRONTEND_ONNX_SEQUENCE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/frontend/onnx/graph_builder.h"

namespace hone::frontend {

// A sequence is a kTuple of typed tensors.
bool IsSequence(const ir::Expr& e);
// A sequence of these tensors. It is charged to the model's allowance: a node of a few bytes may
// copy a long one.
absl::StatusOr<ir::Expr> SequenceOf(NodeReader& node, std::vector<ir::Expr> items);
// An optional that holds nothing. One that holds something is that value itself.
ir::Expr Nothing();
bool IsNothing(const ir::Expr& e);

// kInvalidArgument where an operand is a sequence, or nothing, and the operator wants tensors only.
absl::Status CheckOperands(const NodeReader& node);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_SEQUENCE_H_
