#include "tuner/jobs/regime.h"

#include <algorithm>

namespace hone::tuner {

const char* RegimeOf(const TaskContext& task, int64_t model_constant_bytes) {
  const int64_t own = task.constant_bytes();
  if (own == 0) return kWarm;
  const TaskContext::Caches caches = task.caches();
  if (caches.last_level == 0) return kWarm;
  const int64_t own_caches = caches.core * task.threads();
  if (model_constant_bytes <= 0) return own > own_caches ? kColdConstants : kWarm;
  // What little the other kernels have pushes next to nothing out: it finds its constants as its
  // own last run left them, however large they are.
  if (model_constant_bytes - own <= own_caches / 4) return kWarm;
  if (model_constant_bytes > caches.last_level) return kColdConstants;
  return model_constant_bytes > own_caches ? kSharedConstants : kWarm;
}

int64_t RotationBytes(std::string_view regime, const TaskContext& task,
                      int64_t model_constant_bytes) {
  const TaskContext::Caches caches = task.caches();
  if (regime == kColdConstants) return 2 * caches.last_level;
  if (regime != kSharedConstants) return 0;
  // Threads that share a kernel's work may each have a part of every copy. How near the last-level
  // cache keeps them depends on how much the model has there.
  const int64_t leaves_own = 4 * caches.core * task.threads();
  return std::min(std::max(leaves_own, model_constant_bytes), caches.last_level);
}

}  // namespace hone::tuner
