// Kernels that start before the one ahead of them has ended.
#ifndef HONE_COMPILER_MACHINE_EARLY_STARTS_H_
#define HONE_COMPILER_MACHINE_EARLY_STARTS_H_

#include "compiler/ir/target.h"

namespace hone::machine {

// Whether kernels of the target have instructions to wait for the end of those ahead of them, and
// to let those behind them start: those for NVIDIA's GPUs do since sm_90 (PTX ISA,
// "griddepcontrol").
bool StartsEarly(const Target& target);

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_EARLY_STARTS_H_
