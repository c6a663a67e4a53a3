// What normalisations by the root of the mean square have in common.
#ifndef HONE_COMPILER_FRONTEND_ONNX_ROOT_MEAN_SQUARE_H_
#define HONE_COMPILER_FRONTEND_ONNX_ROOT_MEAN_SQUARE_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// 1 / sqrt(mean(x^2) + epsilon) over `axes`, which stay with an extent of 1.
ir::Expr ReciprocalRootMeanSquare(Formula& f, const ir::Expr& x, const Shape& axes, double epsilon);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_ROOT_MEAN_SQUARE_H_
