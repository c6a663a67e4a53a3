// Tensors in files: ONNX TensorProto (.pb) and NumPy (.npy), for `hone run` and the tests.
#ifndef HONE_COMPILER_FRONTEND_TENSOR_FILE_H_
#define HONE_COMPILER_FRONTEND_TENSOR_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data_type.h"

namespace hone::frontend {

// A value. `bytes` are row-major and little-endian.
struct TensorData {
  DataType dtype = DataType::kFloat32;
  std::vector<int64_t> shape;
  std::string bytes;
  bool operator==(const TensorData&) const = default;
};

// The ending of the file name says the format. kNotFound names a missing file. kInvalidArgument
// says what was expected and what was found in a file that is damaged, or of a kind that Hone does
// not read.
absl::StatusOr<TensorData> ReadTensorFile(const std::string& path);
// `name` is the tensor's name inside a .pb.
absl::Status WriteTensorFile(const std::string& path, const TensorData& tensor,
                             const std::string& name = "");

// The same on bytes in memory.
absl::StatusOr<TensorData> ParseTensorProto(std::string_view bytes);
std::string SerializeTensorProto(const TensorData& tensor, const std::string& name);
// Versions 1 and 2, little-endian, C order.
absl::StatusOr<TensorData> ParseNpy(std::string_view bytes);
std::string SerializeNpy(const TensorData& tensor);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_TENSOR_FILE_H_
