// Checks indices that a model holds as constants, at import. Indices that are computed at run time
// are clamped by the kernels, which cannot fail.
#ifndef HONE_COMPILER_FRONTEND_ONNX_INDEX_CHECK_H_
#define HONE_COMPILER_FRONTEND_ONNX_INDEX_CHECK_H_

#include <span>

#include "absl/status/status.h"
#include "compiler/ir/expr.h"

namespace hone::frontend {

// kInvalidArgument if `indices` is a constant that holds an index outside of -extent .. extent-1.
// Constants of more than 4 Mi elements are not checked.
absl::Status CheckIndices(const ir::Expr& indices, int64_t extent);
// The same for tuples of indices along the last axis; item i of a tuple is an index of an axis of
// extents[i] elements.
absl::Status CheckIndexTuples(const ir::Expr& indices, std::span<const int64_t> extents);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_INDEX_CHECK_H_
