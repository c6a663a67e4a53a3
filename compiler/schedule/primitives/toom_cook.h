// The transforms of minimal filtering along one axis, by Toom and Cook.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_TOOM_COOK_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_TOOM_COOK_H_

#include <cstdint>
#include <vector>

namespace hone::schedule {

using Matrix = std::vector<std::vector<double>>;

// The transforms of F(m, r): y = A^T [(G g) * (B^T d)] computes m results of r taps from m + r - 1
// products. Each product stands for a point where polynomials are evaluated; the last point is
// infinity.
struct ToomCook {
  Matrix data;    // B^T
  Matrix filter;  // G
  Matrix result;  // A^T

  // About how many times larger its error is than that of the direct sum, by a model that takes all
  // roundings as independent; never below 1. The amplifications of two axes multiply.
  double Amplification() const;
  // Moves the scales of the rows of `filter` into those of `data`. That makes filters cheaper to
  // transform, for kernels that do so at every run.
  void ScaleDataInstead();
};

// The largest number of products that there are points for.
inline constexpr int64_t kMostToomCookProducts = 11;

// F(results, taps), with points that make the error small. `results` and `taps` are at least 1, and
// their sum is at most kMostToomCookProducts + 1.
ToomCook MakeToomCook(int64_t results, int64_t taps);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_TOOM_COOK_H_
