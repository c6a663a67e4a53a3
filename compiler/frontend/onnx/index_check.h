// Positions that a model holds as constants, checked at import. Those computed at run time are
// clamped by the kernels, which cannot fail.
#ifndef HONE_COMPILER_FRONTEND_ONNX_INDEX_CHECK_H_
#define HONE_COMPILER_FRONTEND_ONNX_INDEX_CHECK_H_

#include <span>

#include "absl/status/status.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// kInvalidArgument where a constant holds a position beyond -extent .. extent-1.
absl::Status CheckIndices(const ir::Expr& indices, int64_t extent);
// The same of tuples along the last axis, whose items are positions in axes of these extents.
absl::Status CheckIndexTuples(const ir::Expr& indices, std::span<const int64_t> extents);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_INDEX_CHECK_H_
