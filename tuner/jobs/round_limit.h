// How long a candidate may run in rounds.
#ifndef HONE_TUNER_JOBS_ROUND_LIMIT_H_
#define HONE_TUNER_JOBS_ROUND_LIMIT_H_

#include <cstdint>
#include <vector>

#include "hone/v1/farm.pb.h"
#include "tuner/jobs/batch_plan.h"
#include "tuner/jobs/task_history.h"

namespace hone::tuner {

// How long a run of the slowest of these candidates took when the search measured it; 0 where that
// is unknown for one of them.
double SlowestRunNs(const std::vector<PlannedTrial>& candidates, const TaskHistory& history);

// How long a candidate may run in all rounds together, where one run of it takes about `run_ns` (0:
// unknown). `trial_limit_ns` is what a trial of a search may take, start and check included.
int64_t RoundsLimitNs(const hone::v1::TimingPlan& plan, int64_t rounds, int64_t trial_limit_ns,
                      double run_ns);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_ROUND_LIMIT_H_
