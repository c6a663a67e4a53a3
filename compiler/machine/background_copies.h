// Copies from global to shared memory that a thread begins and does not wait for.
#ifndef HONE_COMPILER_MACHINE_BACKGROUND_COPIES_H_
#define HONE_COMPILER_MACHINE_BACKGROUND_COPIES_H_

#include "compiler/ir/target.h"

namespace hone::machine {

// Whether threads of the target have instructions for them, of 4, 8 and 16 bytes: those of NVIDIA's
// GPUs do since sm_80 (PTX ISA, "cp.async").
bool CopiesInBackground(const Target& target);

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_BACKGROUND_COPIES_H_
