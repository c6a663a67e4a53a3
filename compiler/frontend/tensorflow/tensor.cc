#include "compiler/frontend/tensorflow/tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "compiler/frontend/onnx/model.h"
#include "compiler/frontend/tensor_size.h"
#include "hone/tensorflow/graph_def.pb.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

using hone::tensorflow::TensorProto;

struct TypePair {
  int number;
  DataType dtype;
};
constexpr TypePair kTypes[] = {
    {1, DataType::kFloat32}, {2, DataType::kFloat64},  {3, DataType::kInt32},
    {4, DataType::kUInt8},   {5, DataType::kInt16},    {6, DataType::kInt8},
    {9, DataType::kInt64},   {10, DataType::kBool},    {14, DataType::kBFloat16},
    {17, DataType::kUInt16}, {19, DataType::kFloat16}, {22, DataType::kUInt32},
    {23, DataType::kUInt64}};

// `count` elements, each narrowed to Stored; the last one given repeats.
template <typename Stored, typename Field>
absl::StatusOr<std::string> Spread(const Field& field, int64_t count) {
  if (field.size() > count) {
    return absl::InvalidArgumentError(
        fmt::format("at most {} elements were expected, found {}", count, field.size()));
  }
  std::string bytes(count * sizeof(Stored), '\0');
  Stored value = {};
  for (int64_t i = 0; i < count && !field.empty(); ++i) {
    if (i < field.size()) value = static_cast<Stored>(field.Get(static_cast<int>(i)));
    std::memcpy(bytes.data() + i * sizeof(Stored), &value, sizeof(Stored));
  }
  return bytes;
}

absl::StatusOr<std::string> ListedBytes(const TensorProto& proto, DataType dtype, int64_t count) {
  switch (dtype) {
    case DataType::kFloat32:
      return Spread<float>(proto.float_val(), count);
    case DataType::kFloat64:
      return Spread<double>(proto.double_val(), count);
    case DataType::kInt64:
      return Spread<int64_t>(proto.int64_val(), count);
    case DataType::kInt32:
      return Spread<int32_t>(proto.int_val(), count);
    case DataType::kInt16:
      return Spread<int16_t>(proto.int_val(), count);
    case DataType::kInt8:
      return Spread<int8_t>(proto.int_val(), count);
    case DataType::kUInt8:
      return Spread<uint8_t>(proto.int_val(), count);
    case DataType::kUInt16:
      return Spread<uint16_t>(proto.int_val(), count);
    case DataType::kUInt32:
      return Spread<uint32_t>(proto.uint32_val(), count);
    case DataType::kUInt64:
      return Spread<uint64_t>(proto.uint64_val(), count);
    case DataType::kBool:
      return Spread<uint8_t>(proto.bool_val(), count);
    default:
      return Spread<uint16_t>(proto.half_val(), count);
  }
}

}  // namespace

absl::StatusOr<DataType> FromTypeNumber(int number) {
  for (const TypePair& pair : kTypes) {
    if (pair.number == number) return pair.dtype;
  }
  return absl::UnimplementedError(
      fmt::format("Hone does not have TensorFlow's element type {}", number));
}

absl::StatusOr<ir::Expr> TakeTensor(TensorProto* proto, Allowance& allowance) {
  HONE_ASSIGN_OR_RETURN(const DataType dtype, FromTypeNumber(proto->dtype()));
  std::vector<int64_t> shape;
  for (const auto& dim : proto->tensor_shape().dim()) shape.push_back(dim.size());
  if (proto->tensor_shape().unknown_rank()) {
    return absl::InvalidArgumentError("a tensor of known rank was expected");
  }
  HONE_ASSIGN_OR_RETURN(const int64_t size, TensorBytes(shape, dtype));
  if (proto->tensor_content().empty()) {
    HONE_RETURN_IF_ERROR(allowance.Take(size));
    HONE_ASSIGN_OR_RETURN(std::string bytes, ListedBytes(*proto, dtype, size / SizeBytes(dtype)));
    proto->Clear();
    return MakeConstant(std::move(shape), dtype, std::move(bytes));
  }
  if (static_cast<int64_t>(proto->tensor_content().size()) != size) {
    return absl::InvalidArgumentError(
        fmt::format("{} bytes of tensor_content were expected, found {}", size,
                    proto->tensor_content().size()));
  }
  return MakeConstant(std::move(shape), dtype, std::move(*proto->mutable_tensor_content()));
}

}  // namespace hone::frontend::tf
