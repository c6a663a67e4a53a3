// Flags of a canonical target text (compiler/ir/target.h), read without parsing the rest of it.
#ifndef HONE_RUNTIME_TARGET_TEXT_H_
#define HONE_RUNTIME_TARGET_TEXT_H_

#include <string>
#include <string_view>

namespace hone {

// The kind of the target, "llvm", "cuda" or "opencl": the text up to its first space.
std::string_view KindOf(std::string_view target);
// The value of a flag such as "-mattr"; empty if the text does not have the flag.
std::string_view FlagOf(std::string_view target, std::string_view flag);

// The value of -threads, at least 1; 1 if the flag is missing.
int ThreadsOf(std::string_view target);
// The text without its -threads flag.
std::string WithoutThreads(std::string_view target);

// Whether the target's devices are emulated, that is, whether it has -emulated=yes
// (docs/decisions/0029).
bool IsOfEmulated(std::string_view target);
// The same target with -emulated=yes, for a machine that an emulator plays; a target that has the
// flag is unchanged.
std::string AsEmulated(std::string_view target);

}  // namespace hone

#endif  // HONE_RUNTIME_TARGET_TEXT_H_
