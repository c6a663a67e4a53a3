#include "tests/cli/element.h"

#include <cstdint>
#include <cstring>

#include "compiler/ir/literal.h"

namespace hone::cli {
namespace {

template <typename T>
double Load(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof(value));
  return static_cast<double>(value);
}

template <typename T>
void Store(T value, void* element) {
  std::memcpy(element, &value, sizeof(value));
}

uint16_t Bits(const void* element) {
  uint16_t bits;
  std::memcpy(&bits, element, sizeof(bits));
  return bits;
}

}  // namespace

double LoadElement(DataType type, const void* element) {
  switch (type) {
    case DataType::kFloat32:
      return Load<float>(element);
    case DataType::kFloat64:
      return Load<double>(element);
    case DataType::kFloat16:
      return ir::HalfToFloat(Bits(element));
    case DataType::kBFloat16:
      return ir::BFloat16ToFloat(Bits(element));
    case DataType::kInt8:
      return Load<int8_t>(element);
    case DataType::kInt16:
      return Load<int16_t>(element);
    case DataType::kInt32:
      return Load<int32_t>(element);
    case DataType::kInt64:
      return Load<int64_t>(element);
    case DataType::kUInt8:
    case DataType::kBool:
      return Load<uint8_t>(element);
  }
  return 0;
}

void StoreElement(DataType type, double value, void* element) {
  switch (type) {
    case DataType::kFloat32:
      return Store(static_cast<float>(value), element);
    case DataType::kFloat64:
      return Store(value, element);
    case DataType::kFloat16:
      return Store(ir::FloatToHalf(static_cast<float>(value)), element);
    case DataType::kBFloat16:
      return Store(ir::FloatToBFloat16(static_cast<float>(value)), element);
    case DataType::kInt8:
      return Store(static_cast<int8_t>(value), element);
    case DataType::kInt16:
      return Store(static_cast<int16_t>(value), element);
    case DataType::kInt32:
      return Store(static_cast<int32_t>(value), element);
    case DataType::kInt64:
      return Store(static_cast<int64_t>(value), element);
    case DataType::kUInt8:
    case DataType::kBool:
      return Store(static_cast<uint8_t>(value), element);
  }
}

double Epsilon(DataType type) {
  switch (type) {
    case DataType::kFloat64:
      return 0x1p-52;
    case DataType::kFloat32:
      return 0x1p-23;
    case DataType::kFloat16:
      return 0x1p-10;
    case DataType::kBFloat16:
      return 0x1p-7;
    default:
      return 0;
  }
}

}  // namespace hone::cli
