// Rotary position embedding: pairs of a head's elements are turned by an angle that grows with the
// position.
#ifndef HONE_COMPILER_FRONTEND_ONNX_ROTARY_H_
#define HONE_COMPILER_FRONTEND_ONNX_ROTARY_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// `x` is (batch, heads, positions, elements). The first `turned` elements of a head are turned, all
// of them if `turned` is 0. `cosines` and `sines` are (batch or 1, positions, turned / 2). The two
// elements of a pair are neighbours if `interleaved`; else they are turned / 2 elements apart.
// kInvalidArgument if the shapes do not fit.
absl::StatusOr<ir::Expr> Rotate(const ir::Expr& x, const ir::Expr& cosines, const ir::Expr& sines,
                                int64_t turned, bool interleaved);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_ROTARY_H_
