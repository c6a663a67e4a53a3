// The transforms of minimal filtering along one axis, by Toom and Cook.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_TOOM_COOK_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_TOOM_COOK_H_

#include <cstdint>
#include <vector>

namespace hone::schedule {

using Matrix = std::vector<std::vector<double>>;

// F(m, r): y = A^T [(G g) * (B^T d)] are m results of r taps, from m + r - 1 products. Each stands
// for a point where polynomials are evaluated, infinity being the last.
struct ToomCook {
  Matrix data;    // B^T
  Matrix filter;  // G
  Matrix result;  // A^T

  // How much larger than the direct sum's its error is by a model that takes all roundings as
  // independent: about, and never below 1. Of two axes the amplifications multiply.
  double Amplification() const;
  // Moves the scales of the filter's rows into the data's: less to do where filters are transformed
  // more often than data.
  void ScaleDataInstead();
};

// Products there are points for; of one there is nothing to transform.
inline constexpr int64_t kMostToomCookProducts = 11;

// With the points that have the least error for their number. results, taps >= 1, and their sum at
// most kMostToomCookProducts + 1.
ToomCook MakeToomCook(int64_t results, int64_t taps);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_TOOM_COOK_H_
