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

// Writes a load of an element of a global buffer, converted to the type that registers hold.
CText LoadGlobal(const std::string& buffer, const CText& offset, DataType dtype);
// The statement that stores such a value to an element of a global buffer.
std::string StoreGlobal(const std::string& buffer, const CText& offset, const CText& value,
                        DataType dtype);
// Converts an element of a private array to the type that registers hold.
CText FromPrivate(const CText& element, DataType dtype);

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_CONVERSION_H_
