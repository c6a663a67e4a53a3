// What this machine is, in the words of targets.
#ifndef HONE_RUNTIME_HOST_H_
#define HONE_RUNTIME_HOST_H_

#include <string>
#include <string_view>

#include "runtime/emulation.h"

namespace hone {

// The cores this process may run on; at least 1.
int HostCoreCount();

// The canonical target text of this machine (compiler/ir/target.h) with that many threads. It is
// made from what the processor and the system report, not from LLVM's name for the host, so equal
// machines give equal text.
std::string HostTargetText(int threads);

// What this machine's processor lacks to run code for a target and to time it; empty if it lacks
// nothing. It is the target's -mtriple, or a feature of its -mattr such as "avx512f"; the kind of a
// target that is not for a processor ("cuda", "opencl"); "emulator" if only the target is emulated,
// and "processor of its own" if only this machine is. `target` is canonical text; if it lacks one
// of these flags, the answer is that flag.
std::string MissingOnHost(std::string_view target, bool is_emulated = IsEmulated());

}  // namespace hone

#endif  // HONE_RUNTIME_HOST_H_
