// numpy's matmul in graph IR, for the converters that multiply matrices.
#ifndef HONE_COMPILER_FRONTEND_ONNX_MATRIX_PRODUCT_H_
#define HONE_COMPILER_FRONTEND_ONNX_MATRIX_PRODUCT_H_

#include <functional>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// The product of rows (m, k) by columns (n, k), or with `batched` of stacks of both, of which
// either may hold one matrix.
using Multiply = std::function<ir::Expr(Formula& f, bool batched, const ir::Expr& rows,
                                        const ir::Expr& columns)>;

ir::Expr MultiplyFloats(Formula& f, bool batched, const ir::Expr& rows, const ir::Expr& columns);

// The product of vectors, matrices or stacks of matrices, whose outer extents broadcast; both have
// one element type. kInvalidArgument names both where they do not fit.
absl::StatusOr<ir::Expr> MatrixProduct(const ir::Expr& a, const ir::Expr& b,
                                       const Multiply& multiply = MultiplyFloats);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_MATRIX_PRODUCT_H_
