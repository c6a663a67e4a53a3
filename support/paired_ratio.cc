#include "support/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "support/median.h"

namespace hone {
namespace {

constexpr double kOutside = 0.025;  // on either side of the interval

std::vector<double> Ratios(const std::vector<double>& base, const std::vector<double>& other) {
  std::vector<double> ratios;
  for (size_t i = 0; i < base.size(); ++i) ratios.push_back(base[i] / other[i]);
  return ratios;
}

// How many of `n` values may be left out at either end: the most for which so few heads of n fair
// coins have a probability of at most kOutside.
size_t LeftOut(size_t n) {
  double probability = std::exp2(-static_cast<double>(n));  // of no head
  double sum = probability;
  size_t left_out = 0;
  while (sum <= kOutside) {
    ++left_out;
    probability *= static_cast<double>(n - left_out + 1) / static_cast<double>(left_out);
    sum += probability;
  }
  return left_out;
}

}  // namespace

PairedRatio RatioOf(const std::vector<double>& base, const std::vector<double>& other) {
  std::vector<double> ratios = Ratios(base, other);
  if (ratios.empty()) return {};
  std::sort(ratios.begin(), ratios.end());
  const size_t left_out = LeftOut(ratios.size());
  const size_t low = left_out == 0 ? 0 : left_out - 1;
  return {.median = Median(ratios), .low = ratios[low], .high = ratios[ratios.size() - 1 - low]};
}

bool IsClearlyFaster(const std::vector<double>& base, const std::vector<double>& other) {
  const std::vector<double> ratios = Ratios(base, other);
  const auto faster =
      std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio > 1; });
  return faster * 4 >= std::ssize(ratios) * 3;
}

}  // namespace hone
