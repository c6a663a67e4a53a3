// Tells which targets' configs are a good first guess for another target.
#ifndef HONE_COMPILER_IR_COMPATIBLE_TARGETS_H_
#define HONE_COMPILER_IR_COMPATIBLE_TARGETS_H_

#include <string>

#include "compiler/ir/target.h"

namespace hone {

// Whether the configs of one target belong to tier `compatible` (docs/architecture.md, 2) for the
// other. CPUs must have the same vector width, number of vector registers and number of threads,
// and both or neither must be emulated. NVIDIA GPUs must have the same architecture, and OpenCL
// devices the same vendor and family.
bool AreCompatible(const Target& a, const Target& b);
// The same for targets' texts; false if one of them cannot be parsed.
bool AreCompatible(const std::string& a, const std::string& b);

}  // namespace hone

#endif  // HONE_COMPILER_IR_COMPATIBLE_TARGETS_H_
