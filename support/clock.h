// A clock that is passed to the code that needs the time, so that tests can control it.
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
  // Monotonic time in nanoseconds. Only differences between two values have a meaning.
  virtual int64_t NowNs() const = 0;
  // Nanoseconds since the Unix epoch, for people to read and order by. It is never used to measure
  // a duration.
  virtual int64_t WallTimeNs() const = 0;

  // The machine's clock, which lives as long as the process.
  static const Clock& Real();
};

}  // namespace hone

#endif  // HONE_SUPPORT_CLOCK_H_
