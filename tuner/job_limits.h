// What a job may ask for. Beyond it, it is refused with a sentence.
#ifndef HONE_TUNER_JOB_LIMITS_H_
#define HONE_TUNER_JOB_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace hone::tuner {

inline constexpr int kMostTasks = 4096;
inline constexpr size_t kMostWorkloadBytes = size_t{1} << 20;
inline constexpr size_t kMostJobBytes = size_t{32} << 20;
// Trials a task: more than anybody measures, and sums over all tasks do not overflow.
inline constexpr int64_t kMostTrials = 1'000'000'000;
inline constexpr size_t kMostClientIdBytes = 1024;

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOB_LIMITS_H_
