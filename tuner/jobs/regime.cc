#include "tuner/jobs/regime.h"

#include <algorithm>

namespace hone::tuner {

const char* RegimeOf(const TaskContext& task, int64_t model_constant_bytes) {
  const int64_t own = task.constant_bytes();
  if (own == 0) return kWarm;
  const TaskContext::Caches caches = task.caches();
  if (model_constant_bytes <= 0) return own > caches.core ? kColdConstants : kWarm;
  if (model_constant_bytes > caches.last_level) return kColdConstants;
  return model_constant_bytes > caches.core ? kSharedConstants : kWarm;
}

int64_t RotationBytes(std::string_view regime, const TaskContext::Caches& caches) {
  if (regime == kColdConstants) return 2 * caches.last_level;
  if (regime == kSharedConstants) return std::min(4 * caches.core, caches.last_level);
  return 0;
}

}  // namespace hone::tuner
