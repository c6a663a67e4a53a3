#include "compiler/loop/interval.h"

#include <algorithm>

#include "compiler/loop/scalar.h"

namespace hone::loop {
namespace {

// A minimum may be clamped to +infinity and a maximum to -infinity: that only makes them wider.
int64_t Clamp(__int128 value) {
  return static_cast<int64_t>(
      std::clamp<__int128>(value, -Interval::kInfinity, Interval::kInfinity));
}

int64_t Product(int64_t a, int64_t b) { return Clamp(static_cast<__int128>(a) * b); }

}  // namespace

Interval Interval::Point(int64_t value) {
  return {std::min(value, Interval::kInfinity), std::max(value, -Interval::kInfinity)};
}

Interval Interval::OfType(DataType dtype) {
  switch (dtype) {
    case DataType::kBool:
      return {0, 1};
    case DataType::kUInt8:
    case DataType::kUInt16:
    case DataType::kUInt32:
      return {0, (int64_t{1} << SizeBytes(dtype) * 8) - 1};
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32: {
      const int64_t high = (int64_t{1} << (SizeBytes(dtype) * 8 - 1)) - 1;
      return {-high - 1, high};
    }
    default:
      return {};
  }
}

Interval operator+(const Interval& a, const Interval& b) {
  return {
      a.HasMin() && b.HasMin() ? Clamp(static_cast<__int128>(a.min) + b.min) : -Interval::kInfinity,
      a.HasMax() && b.HasMax() ? Clamp(static_cast<__int128>(a.max) + b.max) : Interval::kInfinity};
}

Interval operator*(const Interval& a, int64_t factor) {
  const int64_t x = Product(a.min, factor);
  const int64_t y = Product(a.max, factor);
  return factor >= 0 ? Interval{x, y} : Interval{y, x};
}

Interval operator*(const Interval& a, const Interval& b) {
  const auto [min, max] = std::minmax(
      {Product(a.min, b.min), Product(a.min, b.max), Product(a.max, b.min), Product(a.max, b.max)});
  return {min, max};
}

Interval operator-(const Interval& a, const Interval& b) { return a + b * -1; }

Interval Union(const Interval& a, const Interval& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

Interval Intersect(const Interval& a, const Interval& b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

Interval Min(const Interval& a, const Interval& b) {
  return {std::min(a.min, b.min), std::min(a.max, b.max)};
}

Interval Max(const Interval& a, const Interval& b) {
  return {std::max(a.min, b.min), std::max(a.max, b.max)};
}

Interval FloorDiv(const Interval& a, const Interval& divisor) {
  const int64_t nearest = divisor.min;
  const int64_t farthest = divisor.max;
  return {a.HasMin() ? std::min(FloorDivInt(a.min, nearest), FloorDivInt(a.min, farthest))
                     : -Interval::kInfinity,
          a.HasMax() ? std::max(FloorDivInt(a.max, nearest), FloorDivInt(a.max, farthest))
                     : Interval::kInfinity};
}

Interval TruncatedDiv(const Interval& a, const Interval& divisor) {
  const int64_t nearest = divisor.min;
  const int64_t farthest = divisor.max;
  return {a.HasMin() ? std::min(a.min / nearest, a.min / farthest) : -Interval::kInfinity,
          a.HasMax() ? std::max(a.max / nearest, a.max / farthest) : Interval::kInfinity};
}

Interval FloorMod(const Interval& a, const Interval& divisor) {
  const Interval all{0, divisor.HasMax() ? divisor.max - 1 : Interval::kInfinity};
  if (!divisor.IsPoint() || !a.HasMin() || !a.HasMax()) return all;
  const int64_t quotient = FloorDivInt(a.min, divisor.min);
  if (quotient != FloorDivInt(a.max, divisor.min)) return all;
  return {FloorModInt(a.min, divisor.min), FloorModInt(a.max, divisor.min)};
}

Interval TruncatedMod(const Interval& a, const Interval& divisor) {
  const int64_t limit = divisor.HasMax() ? divisor.max - 1 : Interval::kInfinity;
  return {a.min < 0 ? std::max(-limit, a.min) : 0, a.max > 0 ? std::min(limit, a.max) : 0};
}

}  // namespace hone::loop
