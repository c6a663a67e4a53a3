// Casts between data types, and between registers and memory.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_CONVERSION_H_
#define HONE_COMPILER_CODEGEN_OPENCL_CONVERSION_H_

#include <string>

#include "compiler/codegen/opencl/c_text.h"
#include "compiler/codegen/opencl/helpers.h"
#include "compiler/codegen/opencl/int_arithmetic.h"
#include "runtime/data_type.h"

namespace hone::codegen::opencl {

// Converts with one rounding. Integers wrap around when they become narrower; floats saturate when
// they become integers.
CText Convert(Helpers& helpers, const IntOperand& value, DataType from, DataType to);

// Loads an element of memory that kernels share, as the value that registers hold.
CText LoadShared(const std::string& buffer, const CText& offset, DataType dtype);
// The statement that stores such an element.
std::string StoreShared(const std::string& buffer, const CText& offset, const CText& value,
                        DataType dtype);
// The value of an element of a private array.
CText FromPrivate(const CText& element, DataType dtype);

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_CONVERSION_H_
