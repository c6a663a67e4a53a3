// Element types of tensors, shared by the runtime, the compiler and the wire.
#ifndef HONE_RUNTIME_DATA_TYPE_H_
#define HONE_RUNTIME_DATA_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace hone {

// The values are part of the module ABI: never renumber.
enum class DataType : uint8_t {
  kFloat32 = 1,
  kFloat64 = 2,
  kFloat16 = 3,
  kBFloat16 = 4,
  kInt8 = 5,
  kInt16 = 6,
  kInt32 = 7,
  kInt64 = 8,
  kUInt8 = 9,
  kBool = 10,
  kUInt16 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
};
inline constexpr DataType kLastDataType = DataType::kUInt64;

// Bytes of one element. A bool takes one byte.
int SizeBytes(DataType type);

bool IsFloat(DataType type);
// True for integers of either sign, but not for bool.
bool IsInteger(DataType type);
// True for unsigned integers, but not for bool.
bool IsUnsigned(DataType type);

// "float32", "int8", "bool", ...
std::string_view Name(DataType type);
std::optional<DataType> ParseDataType(std::string_view name);

}  // namespace hone

#endif  // HONE_RUNTIME_DATA_TYPE_H_
