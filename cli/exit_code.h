// Maps a Status to the exit code that docs/architecture.md, 8 promises.
#ifndef HONE_CLI_EXIT_CODE_H_
#define HONE_CLI_EXIT_CODE_H_

#include "absl/status/status.h"

namespace hone::cli {

enum ExitCode {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kBadInput = 3,
  kNotTuned = 4,
  kServerUnreachable = 5,
  kDenied = 6,
  kBusy = 7,
  kEndedEarly = 8,
  kInterrupted = 130,
};

// Returns the status with an exit code attached, which ExitCodeOf then returns instead of the code
// of its kind.
absl::Status WithExitCode(absl::Status status, ExitCode code);

// kInvalidArgument, kNotFound, kAlreadyExists, kUnimplemented: bad input. kUnavailable: server
// unreachable. kPermissionDenied: denied. kFailedPrecondition: busy, locked or wrong version.
// Others: failed.
int ExitCodeOf(const absl::Status& status);

}  // namespace hone::cli

#endif  // HONE_CLI_EXIT_CODE_H_
