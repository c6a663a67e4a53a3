#include "tuner/job_changes.h"

#include <algorithm>

namespace hone::tuner {

tuning_db::JobChanges ChangesOf(const hone::v1::CloneJobRequest& request) {
  tuning_db::JobChanges changes;
  if (request.has_trials()) changes.trials = request.trials();
  if (request.has_limit_ns()) changes.deadline_ns = std::max<int64_t>(0, request.limit_ns());
  if (request.has_seed()) changes.seed = request.seed();
  if (request.has_priority()) changes.priority = request.priority();
  return changes;
}

}  // namespace hone::tuner
