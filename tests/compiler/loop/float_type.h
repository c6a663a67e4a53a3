// The type of most tensors in tests of loops.
#ifndef HONE_TESTS_COMPILER_LOOP_FLOAT_TYPE_H_
#define HONE_TESTS_COMPILER_LOOP_FLOAT_TYPE_H_

#include "runtime/data_type.h"

namespace hone::loop {

inline constexpr DataType kF32 = DataType::kFloat32;

}  // namespace hone::loop

#endif  // HONE_TESTS_COMPILER_LOOP_FLOAT_TYPE_H_
