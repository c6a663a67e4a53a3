// Loads and stores of several neighbours by one instruction of a GPU's thread.
#ifndef HONE_COMPILER_MACHINE_VECTOR_ACCESS_H_
#define HONE_COMPILER_MACHINE_VECTOR_ACCESS_H_

#include <cstdint>

#include "compiler/ir/target.h"

namespace hone::machine {

// The most bytes that one instruction of a thread loads or stores.
inline constexpr int64_t kAccessBytes = 16;

// Whether code for the target has such instructions for vectorised loops: that for NVIDIA's GPUs
// does. In OpenCL C these are loops over elements.
bool HasVectorAccess(const Target& target);

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_VECTOR_ACCESS_H_
