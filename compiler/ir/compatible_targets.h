// Which targets' configs are a good first guess for another's.
#ifndef HONE_COMPILER_IR_COMPATIBLE_TARGETS_H_
#define HONE_COMPILER_IR_COMPATIBLE_TARGETS_H_

#include <string>

#include "compiler/ir/target.h"

namespace hone {

// Tier `compatible` (docs/architecture.md, 2): CPUs of the same vector width, number of registers
// and threads, none of them or both emulated; GPUs of the same architecture; devices of OpenCL of
// the same family.
bool AreCompatible(const Target& a, const Target& b);
// The same of texts; false where one is none of a target.
bool AreCompatible(const std::string& a, const std::string& b);

}  // namespace hone

#endif  // HONE_COMPILER_IR_COMPATIBLE_TARGETS_H_
