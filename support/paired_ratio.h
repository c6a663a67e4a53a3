// Says how much faster one thing is than another, if both were timed alternately, round by round.
#ifndef HONE_SUPPORT_PAIRED_RATIO_H_
#define HONE_SUPPORT_PAIRED_RATIO_H_

#include <vector>

namespace hone {

// Each round has a ratio base / other of its two times. This is the median of the ratios, with an
// interval that holds the true median with a probability of at least 95 %. With fewer than six
// rounds, the interval has all ratios, and the probability may be less. If a ratio is above 1,
// `other` is faster.
struct PairedRatio {
  double median = 1;
  double low = 1;
  double high = 1;
};

// `base` and `other` have one time for each round, in the same order; none may be NaN or 0. The
// interval comes from order statistics, which assume no distribution: with 15 rounds, it is from
// the 4th to the 12th ratio in ascending order.
PairedRatio RatioOf(const std::vector<double>& base, const std::vector<double>& other);

// Whether `other` was faster in at least three quarters of the rounds. Half of them can be luck.
bool IsClearlyFaster(const std::vector<double>& base, const std::vector<double>& other);

}  // namespace hone

#endif  // HONE_SUPPORT_PAIRED_RATIO_H_
