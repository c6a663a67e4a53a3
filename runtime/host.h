// What this machine is, in the words of targets.
#ifndef HONE_RUNTIME_HOST_H_
#define HONE_RUNTIME_HOST_H_

#include <string>
#include <string_view>

#include "runtime/emulation.h"

namespace hone {

// The cores this process may run on; at least 1.
int HostCoreCount();

// Canonical target text of this machine (compiler/ir/target.h) with that many threads. Made of what
// the processor and the system report of themselves, not of LLVM's idea of the host, so equal
// machines give equal text.
std::string HostTargetText(int threads);

// What this machine lacks to run code for a target, given as canonical text, and to say how fast it
// is: its -mtriple, a feature of its -mattr such as "avx512f", or for a GPU its kind, "cuda"; an
// "emulator" for the target of one, or a "processor of its own". Empty where it lacks nothing. Of a
// text that is not canonical the flag that is not there.
std::string MissingOnHost(std::string_view target, bool is_emulated = IsEmulated());

}  // namespace hone

#endif  // HONE_RUNTIME_HOST_H_
