#include "compiler/frontend/tensor_file.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "compiler/frontend/file.h"
#include "compiler/frontend/onnx/tensor.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::Status AtPath(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), fmt::format("{}: {}", path, std::string(status.message())));
}

absl::Status UnknownEnding(const std::string& path) {
  return absl::InvalidArgumentError(
      fmt::format("{}: a tensor file ends in .pb (ONNX TensorProto) or .npy", path));
}

}  // namespace

absl::StatusOr<TensorData> ReadTensorFile(const std::string& path) {
  const bool npy = path.ends_with(".npy");
  if (!npy && !path.ends_with(".pb")) return UnknownEnding(path);
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path));
  absl::StatusOr<TensorData> tensor = npy ? ParseNpy(bytes) : ParseTensorProto(bytes);
  if (!tensor.ok()) return AtPath(path, tensor.status());
  return tensor;
}

absl::Status WriteTensorFile(const std::string& path, const TensorData& tensor,
                             const std::string& name) {
  if (path.ends_with(".npy")) return WriteWholeFile(path, SerializeNpy(tensor));
  if (path.ends_with(".pb")) return WriteWholeFile(path, SerializeTensorProto(tensor, name));
  return UnknownEnding(path);
}

absl::StatusOr<TensorData> ParseTensorProto(std::string_view bytes) {
  onnx::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("not an ONNX TensorProto: its bytes do not parse");
  }
  return FromProto(&proto, "");
}

std::string SerializeTensorProto(const TensorData& tensor, const std::string& name) {
  onnx::TensorProto proto;
  ToProto(tensor, name, &proto);
  return proto.SerializeAsString();
}

}  // namespace hone::frontend
