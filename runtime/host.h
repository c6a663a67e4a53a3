// What this machine is, in the words of targets.
#ifndef HONE_RUNTIME_HOST_H_
#define HONE_RUNTIME_HOST_H_

#include <string>

namespace hone {

// The cores this process may run on; at least 1.
int HostCoreCount();

// Canonical target text of this machine (compiler/ir/target.h) with that many threads.
std::string HostTargetText(int threads);

}  // namespace hone

#endif  // HONE_RUNTIME_HOST_H_
