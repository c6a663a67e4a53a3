// Named points at which a test can kill the process, to prove that nothing is lost or half-written.
#ifndef HONE_SUPPORT_CRASH_POINT_H_
#define HONE_SUPPORT_CRASH_POINT_H_

#include <string_view>

namespace hone {

// Kills the process with SIGKILL if the environment variable HONE_CRASH_AT is "NAME:N" and this is
// the process's N-th call (counted from 1) with that name. Otherwise does nothing. If
// HONE_CRASH_LOG names a file, each call first appends its name to it, so that a test can list
// every point. Thread-safe.
void CrashPoint(std::string_view name);

}  // namespace hone

#endif  // HONE_SUPPORT_CRASH_POINT_H_
