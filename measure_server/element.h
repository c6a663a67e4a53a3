// Single elements of tensors of any type, as numbers.
#ifndef HONE_MEASURE_SERVER_ELEMENT_H_
#define HONE_MEASURE_SERVER_ELEMENT_H_

#include <cstdint>

#include "runtime/data_type.h"

namespace hone::measure {

double LoadAnyElement(DataType type, const void* data, int64_t index);
void StoreAnyElement(DataType type, void* data, int64_t index, double value);

// The element at `index`, counted in elements. 64-bit integers beyond 2^53 are rounded.
inline double LoadElement(DataType type, const void* data, int64_t index) {
  if (type == DataType::kFloat32) return static_cast<const float*>(data)[index];  // nearly always
  return LoadAnyElement(type, data, index);
}

// Rounds to nearest; integers must be in range.
inline void StoreElement(DataType type, void* data, int64_t index, double value) {
  if (type == DataType::kFloat32) {
    static_cast<float*>(data)[index] = static_cast<float>(value);
  } else {
    StoreAnyElement(type, data, index, value);
  }
}

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ELEMENT_H_
