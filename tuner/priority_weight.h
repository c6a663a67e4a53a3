// How the priority of a submitter's jobs changes its share of the devices (decision 25).
#ifndef HONE_TUNER_PRIORITY_WEIGHT_H_
#define HONE_TUNER_PRIORITY_WEIGHT_H_

#include <algorithm>
#include <cmath>

namespace hone::tuner {

// Each step of priority doubles the share; steps beyond these bounds change nothing.
inline constexpr int kMostPriority = 4;
// The most urgent submitter has this many turns for each turn of the least urgent one.
inline constexpr int kMostShare = 1 << (2 * kMostPriority);

inline double PriorityWeight(int priority) {
  return std::exp2(std::clamp(priority, -kMostPriority, kMostPriority));
}

}  // namespace hone::tuner

#endif  // HONE_TUNER_PRIORITY_WEIGHT_H_
