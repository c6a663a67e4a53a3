// Results whose shape depends on data that is computed at run time. They get the largest shape that
// they can have, and are filled up with -1, which is no index.
#ifndef HONE_COMPILER_FRONTEND_ONNX_BOUNDED_H_
#define HONE_COMPILER_FRONTEND_ONNX_BOUNDED_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/non_max_suppression.h"

namespace hone::frontend {

// kUnimplemented if the node reads such a result: it would take the -1 for indices. Only Identity
// may read one; this states that its result is such a result, too.
absl::Status CheckBoundedOperands(NodeReader& node);

// Both functions charge the constants that they make to the model's allowance.
// NonZero as (rank, elements of `data`): first the columns of the elements that are not zero, in
// their order, then columns of -1.
absl::StatusOr<ir::Expr> BoundedNonZero(NodeReader& node, const ir::Expr& data);
// NonMaxSuppression as (batches * classes * most, 3), where `most` is the lesser of most_per_class
// and count: first the rows of the boxes that are kept, in their order, then rows of -1. The
// vectors `boxes` and `scores` of `input` are not read.
absl::StatusOr<ir::Expr> BoundedSuppression(NodeReader& node, const ir::Expr& boxes,
                                            const ir::Expr& scores, const SuppressionInput& input);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_BOUNDED_H_
