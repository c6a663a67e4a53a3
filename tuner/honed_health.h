// Implements `honed health`, which tells a supervisor whether a daemon on this machine serves.
#ifndef HONE_TUNER_HONED_HEALTH_H_
#define HONE_TUNER_HONED_HEALTH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace hone::tuner {

// How many workers the daemon at this Unix socket has. Errors are those of
// DaemonConnection::StatusOf; kDeadlineExceeded where it does not answer within `limit_ns`.
absl::StatusOr<int> AskHealth(const std::string& socket, int64_t limit_ns);

}  // namespace hone::tuner

#endif  // HONE_TUNER_HONED_HEALTH_H_
