// Caches of keys and values: tensors of a fixed extent that are filled position by position.
#ifndef HONE_COMPILER_FRONTEND_ONNX_CACHE_H_
#define HONE_COMPILER_FRONTEND_ONNX_CACHE_H_

#include "compiler/frontend/onnx/formula.h"

namespace hone::frontend {

// `cache` after `update` is written into it along `axis`, which is not 0. The update of sequence b
// (the index of axis 0) begins at position first[b]. If `circular`, positions past the end of the
// cache go on at its start; otherwise there must be none. kInvalidArgument if the extents do not
// fit.
absl::StatusOr<ir::Expr> WrittenTo(const ir::Expr& cache, const ir::Expr& update,
                                   const ir::Expr& first, int64_t axis, bool circular);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_CACHE_H_
