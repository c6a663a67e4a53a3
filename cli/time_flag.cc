#include "cli/time_flag.h"

#include <algorithm>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "cli/exit_code.h"
#include "cli/tuning_request.h"
#include "fmt/format.h"
#include "support/clock.h"

namespace hone::cli {

absl::StatusOr<int64_t> ParseTimeFlag(const std::string& flag, const std::string& text) {
  if (text.empty()) return 0;
  const absl::StatusOr<int64_t> age_ns = ParseDuration(text);
  if (age_ns.ok()) return std::max<int64_t>(Clock::Real().WallTimeNs() - *age_ns, 1);
  absl::CivilDay day;
  if (absl::ParseCivilTime(text, &day)) {
    return absl::ToUnixNanos(absl::FromCivil(day, absl::UTCTimeZone()));
  }
  return WithExitCode(
      absl::InvalidArgumentError(fmt::format(
          "expected an age such as 90m, 2h or 7d, or a day such as 2026-11-27 (UTC) for {}, "
          "found '{}'",
          flag, text)),
      kUsage);
}

}  // namespace hone::cli
