// Reads flags that name a point in time.
#ifndef HONE_CLI_TIME_FLAG_H_
#define HONE_CLI_TIME_FLAG_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace hone::cli {

// The time that long ago ("90m", "2h", "7d"), or the beginning of a day ("2026-11-27", UTC), in
// nanoseconds since 1970; 0 for an empty text. kInvalidArgument with exit code 2 names the flag.
absl::StatusOr<int64_t> ParseTimeFlag(const std::string& flag, const std::string& text);

}  // namespace hone::cli

#endif  // HONE_CLI_TIME_FLAG_H_
