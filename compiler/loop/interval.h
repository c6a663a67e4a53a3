// Ranges of integers, and arithmetic on them that is never too narrow.
#ifndef HONE_COMPILER_LOOP_INTERVAL_H_
#define HONE_COMPILER_LOOP_INTERVAL_H_

#include <cstdint>

#include "runtime/data_type.h"

namespace hone::loop {

// Both ends belong to the interval. An end at or beyond kInfinity stands for "unbounded";
// arithmetic saturates there. With a minimum above the maximum it has no value: code that would
// compute one does not run.
struct Interval {
  static constexpr int64_t kInfinity = int64_t{1} << 60;
  int64_t min = -kInfinity;
  int64_t max = kInfinity;

  static Interval Point(int64_t value);
  // The values of a type; unbounded for int64 and floats.
  static Interval OfType(DataType dtype);

  bool IsPoint() const { return min == max && min > -kInfinity && max < kInfinity; }
  bool IsEmpty() const { return min > max; }
  bool HasMin() const { return min > -kInfinity; }
  bool HasMax() const { return max < kInfinity; }
  bool Within(int64_t low, int64_t high) const { return min >= low && max <= high; }
  bool operator==(const Interval&) const = default;
};

Interval operator+(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, int64_t factor);
Interval operator-(const Interval& a, const Interval& b);
Interval Union(const Interval& a, const Interval& b);
Interval Intersect(const Interval& a, const Interval& b);
Interval Min(const Interval& a, const Interval& b);
Interval Max(const Interval& a, const Interval& b);
// By a positive divisor.
Interval FloorDiv(const Interval& a, const Interval& divisor);
Interval FloorMod(const Interval& a, const Interval& divisor);
Interval TruncatedDiv(const Interval& a, const Interval& divisor);
Interval TruncatedMod(const Interval& a, const Interval& divisor);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_INTERVAL_H_
