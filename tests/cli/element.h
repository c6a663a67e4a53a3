// Elements of tensors of every type as numbers.
#ifndef HONE_TESTS_CLI_ELEMENT_H_
#define HONE_TESTS_CLI_ELEMENT_H_

#include "runtime/data_type.h"

namespace hone::cli {

double LoadElement(DataType type, const void* element);
// Values that the type holds.
void StoreElement(DataType type, double value, void* element);

// The step from 1 to the next number; 0 of integers.
double Epsilon(DataType type);

}  // namespace hone::cli

#endif  // HONE_TESTS_CLI_ELEMENT_H_
