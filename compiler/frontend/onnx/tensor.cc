#include "compiler/frontend/onnx/tensor.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "compiler/frontend/file.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using onnx::TensorProto;

struct TypePair {
  int onnx_type;
  DataType dtype;
};
constexpr TypePair kTypes[] = {
    {TensorProto::FLOAT, DataType::kFloat32},   {TensorProto::DOUBLE, DataType::kFloat64},
    {TensorProto::FLOAT16, DataType::kFloat16}, {TensorProto::BFLOAT16, DataType::kBFloat16},
    {TensorProto::INT8, DataType::kInt8},       {TensorProto::INT16, DataType::kInt16},
    {TensorProto::INT32, DataType::kInt32},     {TensorProto::INT64, DataType::kInt64},
    {TensorProto::UINT8, DataType::kUInt8},     {TensorProto::BOOL, DataType::kBool},
    {TensorProto::UINT16, DataType::kUInt16},   {TensorProto::UINT32, DataType::kUInt32},
    {TensorProto::UINT64, DataType::kUInt64}};

absl::Status Damaged(const TensorProto& proto, const std::string& why) {
  return absl::InvalidArgumentError(fmt::format("tensor \"{}\": {}", proto.name(), why));
}

// Elements of a repeated field, each narrowed to Stored.
template <typename Stored, typename Field>
absl::StatusOr<std::string> Narrow(const TensorProto& proto, const Field& field, int64_t size) {
  if (static_cast<int64_t>(field.size() * sizeof(Stored)) != size) {
    return Damaged(proto, fmt::format("{} elements were expected, found {}",
                                      size / static_cast<int64_t>(sizeof(Stored)), field.size()));
  }
  std::string bytes(size, '\0');
  for (int i = 0; i < field.size(); ++i) {
    const auto value = static_cast<Stored>(field.Get(i));
    std::memcpy(bytes.data() + i * sizeof(Stored), &value, sizeof(Stored));
  }
  return bytes;
}

// Floats of 16 bits are the low bits of an integer: one that has others is no such float.
absl::Status CheckSixteenBits(const TensorProto& proto) {
  for (const int32_t bits : proto.int32_data()) {
    if (bits < 0 || bits > UINT16_MAX) {
      return Damaged(proto, fmt::format("16 bits were expected of each float, found {}", bits));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TypedBytes(const TensorProto& proto, DataType dtype, int64_t size) {
  switch (dtype) {
    case DataType::kFloat32:
      return Narrow<float>(proto, proto.float_data(), size);
    case DataType::kFloat64:
      return Narrow<double>(proto, proto.double_data(), size);
    case DataType::kInt64:
      return Narrow<int64_t>(proto, proto.int64_data(), size);
    case DataType::kInt32:
      return Narrow<int32_t>(proto, proto.int32_data(), size);
    case DataType::kUInt32:
      return Narrow<uint32_t>(proto, proto.uint64_data(), size);
    case DataType::kUInt64:
      return Narrow<uint64_t>(proto, proto.uint64_data(), size);
    case DataType::kFloat16:
    case DataType::kBFloat16:
      HONE_RETURN_IF_ERROR(CheckSixteenBits(proto));
      [[fallthrough]];
    case DataType::kInt16:
    case DataType::kUInt16:
      return Narrow<uint16_t>(proto, proto.int32_data(), size);
    case DataType::kInt8:
    case DataType::kUInt8:
      return Narrow<uint8_t>(proto, proto.int32_data(), size);
    case DataType::kBool:  // whatever is not 0 is true
      return Narrow<bool>(proto, proto.int32_data(), size);
  }
  return Damaged(proto, "its element type is unknown");
}

// Newer than the library's description of the format.
constexpr int kUInt4 = 21;
constexpr int kInt4 = 22;

int64_t ElementCount(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

// Each of `count` 4-bit integers as a byte; the first of a pair is in the low bits.
std::string Unpacked(const std::string& packed, int64_t count, bool is_signed) {
  constexpr unsigned kSign = 8;
  std::string bytes(count, '\0');
  for (int64_t i = 0; i < count; ++i) {
    const auto pair = static_cast<uint8_t>(packed[i / 2]);
    const unsigned value = i % 2 == 0 ? pair & 0xFU : pair >> 4U;
    bytes[i] = static_cast<char>(is_signed ? (value ^ kSign) - kSign : value);
  }
  return bytes;
}

struct External {
  std::string location;
  int64_t offset = 0;
  int64_t length = -1;
};

absl::StatusOr<External> ReadExternal(const TensorProto& proto) {
  External external;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") external.location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    char* end = nullptr;
    errno = 0;
    const int64_t number = std::strtoll(entry.value().c_str(), &end, 10);
    if (errno != 0 || end == entry.value().c_str() || *end != '\0' || number < 0) {
      return Damaged(proto, fmt::format("external data's {} was expected to be a number, found {}",
                                        entry.key(), entry.value()));
    }
    (entry.key() == "offset" ? external.offset : external.length) = number;
  }
  return external;
}

// The path of an external file, if it lies within `folder` (links followed).
absl::StatusOr<std::string> Confine(const TensorProto& proto, const std::string& folder,
                                    const std::string& location) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (folder.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("tensor \"{}\": its values are in a file of their own, \"{}\", which is looked "
                    "for beside a model's file only; give a model by its path, or save the values "
                    "inside",
                    proto.name(), location));
  }
  const fs::path root = fs::weakly_canonical(folder, error);
  const fs::path path = fs::weakly_canonical(root / location, error);
  const fs::path relative = path.lexically_relative(root);
  if (location.empty() || fs::path(location).is_absolute() || relative.empty() ||
      *relative.begin() == "..") {
    return Damaged(proto, fmt::format("external data was expected in the model's folder, found "
                                      "location \"{}\"",
                                      location));
  }
  if (!fs::exists(path, error)) {
    return absl::NotFoundError(fmt::format("tensor \"{}\": its external data {} does not exist",
                                           proto.name(), path.string()));
  }
  return path.string();
}

absl::StatusOr<std::string> ExternalBytes(const TensorProto& proto, const std::string& folder,
                                          int64_t size) {
  HONE_ASSIGN_OR_RETURN(const External external, ReadExternal(proto));
  HONE_ASSIGN_OR_RETURN(const std::string path, Confine(proto, folder, external.location));
  if (external.length >= 0 && external.length != size) {
    return Damaged(proto, fmt::format("{} bytes were expected, its external data has length {}",
                                      size, external.length));
  }
  std::error_code error;
  const auto file_size = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error || external.offset > file_size || size > file_size - external.offset) {
    return Damaged(proto, fmt::format("{} bytes from {} on were expected in {}, which has {}", size,
                                      external.offset, path, file_size));
  }
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(external.offset);
  if (!file.read(bytes.data(), size)) return Damaged(proto, path + " cannot be read");
  return bytes;
}

}  // namespace

absl::StatusOr<DataType> FromOnnxType(int onnx_type) {
  for (const TypePair& pair : kTypes) {
    if (pair.onnx_type == onnx_type) return pair.dtype;
  }
  const std::string name = onnx::TensorProto_DataType_IsValid(onnx_type)
                               ? onnx::TensorProto_DataType_Name(onnx_type)
                               : fmt::format("number {}", onnx_type);
  return absl::UnimplementedError(fmt::format("Hone has no element type {}", name));
}

absl::StatusOr<DataType> FromOnnxTypeName(const std::string& name) {
  onnx::TensorProto::DataType type = TensorProto::UNDEFINED;
  if (onnx::TensorProto_DataType_Parse(absl::AsciiStrToUpper(name), &type)) {
    return FromOnnxType(type);
  }
  return absl::UnimplementedError(fmt::format("Hone has no element type {}", name));
}

int ToOnnxType(DataType dtype) {
  for (const TypePair& pair : kTypes) {
    if (pair.dtype == dtype) return pair.onnx_type;
  }
  return TensorProto::UNDEFINED;
}

std::optional<DataType> FourBitIn(int onnx_type) {
  if (onnx_type == kInt4) return DataType::kInt8;
  if (onnx_type == kUInt4) return DataType::kUInt8;
  return std::nullopt;
}

bool IsFourBit(const TensorProto& proto) { return FourBitIn(proto.data_type()).has_value(); }

absl::StatusOr<TensorData> FromProto(TensorProto* taken, const std::string& folder) {
  const TensorProto& proto = *taken;
  TensorData tensor;
  const std::optional<DataType> bytes = FourBitIn(proto.data_type());
  const absl::StatusOr<DataType> dtype =
      bytes ? absl::StatusOr<DataType>(*bytes) : FromOnnxType(proto.data_type());
  if (!dtype.ok()) {
    return absl::Status(dtype.status().code(), fmt::format("tensor \"{}\": {}", proto.name(),
                                                           std::string(dtype.status().message())));
  }
  tensor.dtype = *dtype;
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  absl::StatusOr<int64_t> size = TensorBytes(tensor.shape, tensor.dtype);
  if (!size.ok()) return Damaged(proto, std::string(size.status().message()));
  const bool is_packed = bytes.has_value();
  if (is_packed) size = *size / 2 + *size % 2;
  if (proto.has_segment()) return Damaged(proto, "it is in segments, which Hone does not read");
  if (proto.data_location() == TensorProto::EXTERNAL) {
    HONE_ASSIGN_OR_RETURN(tensor.bytes, ExternalBytes(proto, folder, *size));
  } else if (proto.has_raw_data()) {
    if (static_cast<int64_t>(proto.raw_data().size()) != *size) {
      return Damaged(
          proto, fmt::format("{} bytes were expected, found {}", *size, proto.raw_data().size()));
    }
    tensor.bytes = std::move(*taken->mutable_raw_data());
  } else {
    HONE_ASSIGN_OR_RETURN(tensor.bytes, TypedBytes(proto, tensor.dtype, *size));
  }
  if (is_packed) {
    tensor.bytes =
        Unpacked(tensor.bytes, ElementCount(tensor.shape), tensor.dtype == DataType::kInt8);
  }
  return tensor;
}

void ToProto(const TensorData& tensor, const std::string& name, TensorProto* proto) {
  proto->set_name(name);
  proto->set_data_type(ToOnnxType(tensor.dtype));
  for (const int64_t extent : tensor.shape) proto->add_dims(extent);
  proto->set_raw_data(tensor.bytes);
}

}  // namespace hone::frontend
