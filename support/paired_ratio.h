// How much faster one thing is than another that was timed in turns with it.
#ifndef HONE_SUPPORT_PAIRED_RATIO_H_
#define HONE_SUPPORT_PAIRED_RATIO_H_

#include <vector>

namespace hone {

// The median of the ratios base / other of the same rounds, with an interval that holds the true
// median with a probability of at least 95 % (of few rounds: as far as they reach). Above 1 the
// other is faster.
struct PairedRatio {
  double median = 1;
  double low = 1;
  double high = 1;
};

// One figure a round, of equally many; none may be NaN or 0. The interval is that of order
// statistics, which assumes no distribution: of 15 rounds the 4th and the 12th ratio.
PairedRatio RatioOf(const std::vector<double>& base, const std::vector<double>& other);

// Whether `other` was faster in at least three quarters of the rounds: half of them are luck.
bool IsClearlyFaster(const std::vector<double>& base, const std::vector<double>& other);

}  // namespace hone

#endif  // HONE_SUPPORT_PAIRED_RATIO_H_
