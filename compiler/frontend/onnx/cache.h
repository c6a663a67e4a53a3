// Caches of keys and values: tensors of a fixed extent that are filled position by position.
#ifndef HONE_COMPILER_FRONTEND_ONNX_CACHE_H_
#define HONE_COMPILER_FRONTEND_ONNX_CACHE_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// `cache` with `update` written along `axis`, which is not 0: that of sequence b from position
// first[b] on. Positions behind the cache begin at its start again if `circular`; otherwise there
// are none. kInvalidArgument where the extents do not fit.
absl::StatusOr<ir::Expr> WrittenTo(const ir::Expr& cache, const ir::Expr& update,
                                   const ir::Expr& first, int64_t axis, bool circular);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CACHE_H_
