// Makes parameters of main, or constants, of Placeholder nodes.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_PLACEHOLDER_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_PLACEHOLDER_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/tensorflow/graph.h"

namespace hone::frontend::tf {

// A variable of the shape that the node or the options give, or the constant that the options bind
// to it.
absl::StatusOr<ir::Expr> PlaceholderOf(const Node& node, const ImportOptions& options);

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_PLACEHOLDER_H_
