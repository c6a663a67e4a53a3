#include "cli/time_text.h"

#include "fmt/format.h"
#include "support/clock.h"

namespace hone::cli {
namespace {

constexpr int64_t kMinuteNs = 60 * kSecondNs;

// A unit is used up to twice the next one.
constexpr int64_t kMostMinutes = 120;
constexpr int64_t kMostHours = 48;

int64_t Rounded(int64_t size_ns, int64_t unit_ns) { return (size_ns + unit_ns / 2) / unit_ns; }

std::string Size(int64_t size_ns) {
  const int64_t minutes = Rounded(size_ns, kMinuteNs);
  if (minutes < kMostMinutes) return fmt::format("{} min", minutes);
  const int64_t hours = Rounded(size_ns, kHourNs);
  if (hours < kMostHours) return fmt::format("{} h", hours);
  return fmt::format("{} days", Rounded(size_ns, kDayNs));
}

}  // namespace

std::string TimeFrom(int64_t at_ns, int64_t now_ns) {
  const int64_t away_ns = at_ns - now_ns;
  const int64_t size_ns = away_ns < 0 ? -away_ns : away_ns;
  if (Rounded(size_ns, kMinuteNs) == 0) return "now";
  return away_ns < 0 ? Size(size_ns) + " ago" : "in " + Size(size_ns);
}

}  // namespace hone::cli
