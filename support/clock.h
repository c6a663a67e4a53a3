// Time comes from outside, so that tests can stage it.
#ifndef HONE_SUPPORT_CLOCK_H_
#define HONE_SUPPORT_CLOCK_H_

#include <cstdint>

namespace hone {

inline constexpr int64_t kSecondNs = 1'000'000'000;
inline constexpr int64_t kHourNs = 3'600 * kSecondNs;
inline constexpr int64_t kDayNs = 24 * kHourNs;

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic; only differences have a meaning.
  virtual int64_t NowNs() const = 0;
  // Since the Unix epoch, for display and ordering by people; never used to measure a duration.
  virtual int64_t WallTimeNs() const = 0;

  // The machine's clock; lives for the process.
  static const Clock& Real();
};

}  // namespace hone

#endif  // HONE_SUPPORT_CLOCK_H_
