#ifndef HONE_COMPILER_OPS_ROUND_ONCE_H_
#define HONE_COMPILER_OPS_ROUND_ONCE_H_

#include <set>
#include <string>

#include "compiler/loop/stmt.h"

namespace hone::ops {

// Removes the roundings to float16 and bfloat16 between the operators of a kernel: stages compute
// in float32, and their intermediate results stay float32. Some buffers keep their types: inputs,
// outputs, buffers that products and reductions read, those whose elements are only moved, and
// those named in `kept`.
loop::Nest RoundOnce(const loop::Nest& naive, const std::set<std::string>& kept);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_ROUND_ONCE_H_
