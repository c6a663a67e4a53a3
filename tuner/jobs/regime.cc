#include "tuner/jobs/regime.h"

namespace hone::tuner {

const char* RegimeOf(const TaskContext& task, int64_t model_constant_bytes) {
  const int64_t own = task.constant_bytes();
  if (own == 0) return kWarm;
  const TaskContext::Caches caches = task.caches();
  const bool is_cold =
      model_constant_bytes > 0 ? model_constant_bytes > caches.last_level : own > caches.core;
  return is_cold ? kColdConstants : kWarm;
}

}  // namespace hone::tuner
