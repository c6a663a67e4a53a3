// numpy's matmul in graph IR, for the converters that multiply matrices.
#ifndef HONE_COMPILER_FRONTEND_ONNX_MATRIX_PRODUCT_H_
#define HONE_COMPILER_FRONTEND_ONNX_MATRIX_PRODUCT_H_

#include <functional>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// Multiplies a matrix `rows` (m, k) by a matrix `columns` (n, k). With `batched` both are stacks of
// such matrices, either of which may hold only one.
using Multiply = std::function<ir::Expr(Formula& f, bool batched, const ir::Expr& rows,
                                        const ir::Expr& columns)>;

ir::Expr MultiplyFloats(Formula& f, bool batched, const ir::Expr& rows, const ir::Expr& columns);

// The product of vectors, matrices or stacks of matrices, whose outer extents broadcast. Both
// operands have the same element type. kInvalidArgument names both if they do not fit.
absl::StatusOr<ir::Expr> MatrixProduct(const ir::Expr& a, const ir::Expr& b,
                                       const Multiply& multiply = MultiplyFloats);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_MATRIX_PRODUCT_H_
