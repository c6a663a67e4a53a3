#include "measure_server/element.h"

#include <bit>
#include <cmath>

namespace hone::measure {
namespace {

double HalfToDouble(uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  if (exponent == 0x1F) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 0x400, exponent - 25);
}

uint16_t DoubleToHalf(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7E00;
  if (size >= 65520) return sign | 0x7C00;
  int exponent = 0;
  std::frexp(size, &exponent);  // size = f * 2^exponent, f in [0.5, 1)
  // A step is 2^(exponent - 11), and 2^-24 among the subnormal numbers.
  const int step = size == 0 || exponent - 11 < -24 ? -24 : exponent - 11;
  const auto count = static_cast<int>(std::nearbyint(std::ldexp(size, -step)));
  // A normal number has count 0x400 .. 0x7FF; a carry runs into the exponent as it should.
  return static_cast<uint16_t>(sign | ((step + 24) * 0x400 + count));
}

double BFloatToDouble(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t DoubleToBFloat(double value) {
  if (std::isnan(value)) return 0x7FC0;
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <typename T>
double Load(const void* data, int64_t index) {
  return static_cast<double>(static_cast<const T*>(data)[index]);
}

template <typename T>
void Store(void* data, int64_t index, double value) {
  static_cast<T*>(data)[index] = static_cast<T>(value);
}

}  // namespace

double LoadAnyElement(DataType type, const void* data, int64_t index) {
  switch (type) {
    case DataType::kFloat32:
      return Load<float>(data, index);
    case DataType::kFloat64:
      return Load<double>(data, index);
    case DataType::kFloat16:
      return HalfToDouble(static_cast<const uint16_t*>(data)[index]);
    case DataType::kBFloat16:
      return BFloatToDouble(static_cast<const uint16_t*>(data)[index]);
    case DataType::kInt8:
      return Load<int8_t>(data, index);
    case DataType::kInt16:
      return Load<int16_t>(data, index);
    case DataType::kInt32:
      return Load<int32_t>(data, index);
    case DataType::kInt64:
      return Load<int64_t>(data, index);
    case DataType::kUInt8:
    case DataType::kBool:
      return Load<uint8_t>(data, index);
    case DataType::kUInt16:
      return Load<uint16_t>(data, index);
    case DataType::kUInt32:
      return Load<uint32_t>(data, index);
    case DataType::kUInt64:
      return Load<uint64_t>(data, index);
  }
  return 0;
}

void StoreAnyElement(DataType type, void* data, int64_t index, double value) {
  switch (type) {
    case DataType::kFloat32:
      return Store<float>(data, index, value);
    case DataType::kFloat64:
      return Store<double>(data, index, value);
    case DataType::kFloat16:
      static_cast<uint16_t*>(data)[index] = DoubleToHalf(value);
      return;
    case DataType::kBFloat16:
      static_cast<uint16_t*>(data)[index] = DoubleToBFloat(value);
      return;
    case DataType::kInt8:
      return Store<int8_t>(data, index, value);
    case DataType::kInt16:
      return Store<int16_t>(data, index, value);
    case DataType::kInt32:
      return Store<int32_t>(data, index, value);
    case DataType::kInt64:
      return Store<int64_t>(data, index, value);
    case DataType::kUInt8:
    case DataType::kBool:
      return Store<uint8_t>(data, index, value);
    case DataType::kUInt16:
      return Store<uint16_t>(data, index, value);
    case DataType::kUInt32:
      return Store<uint32_t>(data, index, value);
    case DataType::kUInt64:
      return Store<uint64_t>(data, index, value);
  }
}

}  // namespace hone::measure
