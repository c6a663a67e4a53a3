// TensorFlow's TensorProto. For .cc files of this room alone: it names generated types.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_TENSOR_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_TENSOR_H_

#include "absl/status/statusor.h"
#include "compiler/frontend/tensorflow/graph.h"

namespace hone::tensorflow {
class TensorProto;
}

namespace hone::frontend::tf {

// Makes a constant of the tensor, and takes its bytes over. A tensor whose elements the file has in
// a list, in which the last one may stand for many, is charged to `allowance`. kUnimplemented for
// types that Hone does not have.
absl::StatusOr<ir::Expr> TakeTensor(hone::tensorflow::TensorProto* proto, Allowance& allowance);

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_TENSOR_H_
