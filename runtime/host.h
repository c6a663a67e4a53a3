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
// nothing. The answer is one of these:
// - the target's kind ("cuda", "opencl"), if the target is not for a processor;
// - the target's -mtriple, or a feature of its -mattr such as "avx512f";
// - "emulator", if the target is for an emulated processor (IsOfEmulated) and this machine is real;
// - "processor of its own", if this machine is emulated and the target's processor is real.
// `target` is canonical text; if it has no -mtriple or -mattr, the answer is the name of that flag.
std::string MissingOnHost(std::string_view target, bool is_emulated = IsEmulated());

}  // namespace hone

#endif  // HONE_RUNTIME_HOST_H_
