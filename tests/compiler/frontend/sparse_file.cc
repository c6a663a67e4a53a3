#include "tests/compiler/frontend/sparse_file.h"

#include <onnx/onnx_pb.h>

#include "compiler/frontend/file.h"
#include "compiler/frontend/onnx/sparse_tensor.h"
#include "support/status.h"

namespace hone::frontend {

absl::StatusOr<TensorData> ReadSparseFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path));
  onnx::SparseTensorProto proto;
  if (!proto.ParseFromString(bytes)) return absl::InvalidArgumentError(path + " is damaged");
  HONE_ASSIGN_OR_RETURN(const SparseInitializer sparse, ReadSparseTensor(proto, ""));
  const ir::Expr dense = DenseConstant(sparse);
  return TensorData{sparse.type.dtype,
                    sparse.type.shape,
                    {reinterpret_cast<const char*>(dense->data.bytes()), dense->data.size_bytes()}};
}

}  // namespace hone::frontend
