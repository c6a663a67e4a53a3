// A sparse tensor in a file (SparseTensorProto), as the shared test data have their inputs.
#ifndef HONE_TESTS_COMPILER_FRONTEND_SPARSE_FILE_H_
#define HONE_TESTS_COMPILER_FRONTEND_SPARSE_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/frontend/tensor_file.h"

namespace hone::frontend {

// With its zeros.
absl::StatusOr<TensorData> ReadSparseFile(const std::string& path);

}  // namespace hone::frontend

#endif  // HONE_TESTS_COMPILER_FRONTEND_SPARSE_FILE_H_
