// SparseTensorProto in, and what becomes of it. For .cc files of this room alone: it names ONNX's
// own types.
#ifndef HONE_COMPILER_FRONTEND_ONNX_SPARSE_TENSOR_H_
#define HONE_COMPILER_FRONTEND_ONNX_SPARSE_TENSOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/model.h"
#include "compiler/ops/csr.h"

namespace onnx {
class SparseTensorProto;
}

namespace hone::frontend {

// Indices are one number or one for each axis; kInvalidArgument where they leave the shape or do
// not ascend. `folder` as for FromProto.
absl::StatusOr<SparseInitializer> ReadSparseTensor(const onnx::SparseTensorProto& proto,
                                                   const std::string& folder);

// With its zeros.
ir::Expr DenseConstant(const SparseInitializer& sparse);

// The constants of a sparse matrix as it is, and of its transpose; and the bytes that the larger of
// them takes.
ops::Csr CsrConstants(const SparseInitializer& sparse);
ops::Csr TransposedCsrConstants(const SparseInitializer& sparse);
int64_t CsrBytes(const SparseInitializer& sparse);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_SPARSE_TENSOR_H_
