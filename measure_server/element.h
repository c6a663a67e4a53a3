// Single elements of tensors of any type, as numbers.
#ifndef HONE_MEASURE_SERVER_ELEMENT_H_
#define HONE_MEASURE_SERVER_ELEMENT_H_

#include <cstdint>

#include "runtime/data_type.h"

namespace hone::measure {

// The element at `index` (of elements, not bytes). 64-bit integers beyond 2^53 are rounded.
double LoadElement(DataType type, const void* data, int64_t index);
// Rounds to nearest; integers must be in range.
void StoreElement(DataType type, void* data, int64_t index, double value);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ELEMENT_H_
