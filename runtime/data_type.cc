#include "runtime/data_type.h"

#include <array>

namespace hone {
namespace {

struct Entry {
  DataType type;
  std::string_view name;
  int size_bytes;
};

constexpr std::array<Entry, 13> kEntries = {{
    {DataType::kFloat32, "float32", 4},
    {DataType::kFloat64, "float64", 8},
    {DataType::kFloat16, "float16", 2},
    {DataType::kBFloat16, "bfloat16", 2},
    {DataType::kInt8, "int8", 1},
    {DataType::kInt16, "int16", 2},
    {DataType::kInt32, "int32", 4},
    {DataType::kInt64, "int64", 8},
    {DataType::kUInt8, "uint8", 1},
    {DataType::kBool, "bool", 1},
    {DataType::kUInt16, "uint16", 2},
    {DataType::kUInt32, "uint32", 4},
    {DataType::kUInt64, "uint64", 8},
}};
static_assert(kEntries.size() == static_cast<size_t>(kLastDataType));

// The entries stand in the order of their values.
const Entry& Find(DataType type) { return kEntries[static_cast<int>(type) - 1]; }

}  // namespace

int SizeBytes(DataType type) { return Find(type).size_bytes; }

bool IsFloat(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kFloat64 || type == DataType::kFloat16 ||
         type == DataType::kBFloat16;
}

bool IsInteger(DataType type) { return !IsFloat(type) && type != DataType::kBool; }

bool IsUnsigned(DataType type) {
  return type == DataType::kUInt8 || type == DataType::kUInt16 || type == DataType::kUInt32 ||
         type == DataType::kUInt64;
}

std::string_view Name(DataType type) { return Find(type).name; }

std::optional<DataType> ParseDataType(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

}  // namespace hone
