// Tells which targets' configs are a good first guess for another target.
#ifndef HONE_COMPILER_IR_COMPATIBLE_TARGETS_H_
#define HONE_COMPILER_IR_COMPATIBLE_TARGETS_H_

#include <string>

#include "compiler/ir/target.h"

namespace hone {

// Tier `compatible` (docs/architecture.md, 2): CPUs of the same vector width, number of registers
// and threads, both or neither of them emulated; GPUs of the same architecture; devices of OpenCL
// of the same family.
bool AreCompatible(const Target& a, const Target& b);
// The same for targets' texts; false if one of them cannot be parsed.
bool AreCompatible(const std::string& a, const std::string& b);

}  // namespace hone

#endif  // HONE_COMPILER_IR_COMPATIBLE_TARGETS_H_
