// How many bytes a tensor from a file takes, without trusting its shape.
#ifndef HONE_COMPILER_FRONTEND_TENSOR_SIZE_H_
#define HONE_COMPILER_FRONTEND_TENSOR_SIZE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data_type.h"

namespace hone::frontend {

// kInvalidArgument for negative extents and sizes beyond 2^47 bytes.
absl::StatusOr<int64_t> TensorBytes(const std::vector<int64_t>& shape, DataType dtype);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_TENSOR_SIZE_H_
