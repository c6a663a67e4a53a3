// Results of a shape that depends on data which is computed at run time: the largest that they can
// have, filled up with -1, which is no index.
#ifndef HONE_COMPILER_FRONTEND_ONNX_BOUNDED_H_
#define HONE_COMPILER_FRONTEND_ONNX_BOUNDED_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/onnx/non_max_suppression.h"

namespace hone::frontend {

// Other operators would take what fills up for indices: kUnimplemented where the node reads such a
// result and is no Identity, which gives one, too.
absl::Status CheckBoundedOperands(NodeReader& node);

// Both charge what they make to the model's allowance.
// NonZero: (rank, elements), the columns found first, in their order.
absl::StatusOr<ir::Expr> BoundedNonZero(NodeReader& node, const ir::Expr& data);
// NonMaxSuppression: (batches * classes * most, 3), the rows found first, in their order. Of
// `input` the numbers of boxes and scores are not read.
absl::StatusOr<ir::Expr> BoundedSuppression(NodeReader& node, const ir::Expr& boxes,
                                            const ir::Expr& scores, const SuppressionInput& input);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_BOUNDED_H_
