// The Gaussian error linear unit, which ONNX and com.microsoft have in several operators.
#ifndef HONE_COMPILER_FRONTEND_ONNX_GELU_H_
#define HONE_COMPILER_FRONTEND_ONNX_GELU_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// x times the probability that a standard normal variable is below x.
ir::Expr ErfGelu(Formula& f, const ir::Expr& x);
// The approximation of ErfGelu by tanh, which differs from it by up to 5e-4.
ir::Expr TanhGelu(Formula& f, const ir::Expr& x);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_GELU_H_
