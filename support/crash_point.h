// Named points at which a test can kill the process, to prove that nothing is lost or half-written.
#ifndef HONE_SUPPORT_CRASH_POINT_H_
#define HONE_SUPPORT_CRASH_POINT_H_

#include <string_view>

namespace hone {

// Kills the process with SIGKILL when the environment variable HONE_CRASH_AT is "NAME:N" and this
// is the N-th passage (from 1) of the point called NAME. A no-op otherwise. With HONE_CRASH_LOG
// set, the names passed are appended to that file, so that a test can list every point.
// Thread-safe.
void CrashPoint(std::string_view name);

}  // namespace hone

#endif  // HONE_SUPPORT_CRASH_POINT_H_
