// Reads SparseTensorProto, and makes constants of sparse initializers. Only for .cc files of this
// room: it names ONNX's own types.
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

// The index of an element is one number, or one for each axis. kInvalidArgument if an index is
// outside of the shape, or if they do not ascend. `folder` as for FromProto.
absl::StatusOr<SparseInitializer> ReadSparseTensor(const onnx::SparseTensorProto& proto,
                                                   const std::string& folder);

// The dense constant, in which the elements that `sparse` does not name are zero.
ir::Expr DenseConstant(const SparseInitializer& sparse);

// The constants that hold a sparse matrix in CSR form, and those for its transpose. CsrBytes
// estimates the bytes of the larger of the two.
ops::Csr CsrConstants(const SparseInitializer& sparse);
ops::Csr TransposedCsrConstants(const SparseInitializer& sparse);
int64_t CsrBytes(const SparseInitializer& sparse);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_SPARSE_TENSOR_H_
