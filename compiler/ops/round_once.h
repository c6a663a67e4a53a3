#ifndef HONE_COMPILER_OPS_ROUND_ONCE_H_
#define HONE_COMPILER_OPS_ROUND_ONCE_H_

#include <set>
#include <string>

#include "compiler/loop/stmt.h"

namespace hone::ops {

// Removes the roundings to float16 and bfloat16 between the operators of a kernel: stages compute
// in float32, and their intermediate results stay float32. The types of some buffers do not change:
// inputs, outputs, what products and reductions read, what is only moved, and those named in
// `kept`.
loop::Nest RoundOnce(const loop::Nest& naive, const std::set<std::string>& kept);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_ROUND_ONCE_H_
