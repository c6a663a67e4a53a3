// What a priority is worth among submitters (decision 25).
#ifndef HONE_TUNER_PRIORITY_WEIGHT_H_
#define HONE_TUNER_PRIORITY_WEIGHT_H_

#include <algorithm>
#include <cmath>

namespace hone::tuner {

// A step doubles the share; beyond these bounds it changes nothing.
inline constexpr int kMostPriority = 4;
// So often the most urgent submitter goes for each time that the least urgent one does.
inline constexpr int kMostShare = 1 << (2 * kMostPriority);

inline double PriorityWeight(int priority) {
  return std::exp2(std::clamp(priority, -kMostPriority, kMostPriority));
}

}  // namespace hone::tuner

#endif  // HONE_TUNER_PRIORITY_WEIGHT_H_
