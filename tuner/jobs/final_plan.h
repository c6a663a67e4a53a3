// Finals: who takes part, and who won.
#ifndef HONE_TUNER_JOBS_FINAL_PLAN_H_
#define HONE_TUNER_JOBS_FINAL_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/farm.pb.h"
#include "tuner/jobs/batch_plan.h"
#include "tuner/jobs/task_history.h"
#include "tuner/lowerer.h"
#include "tuning_db/types.h"

namespace hone::tuner {

// The default first, then the incumbent (the winner of the newest final), then the best `top`
// trials; each nest once. A config that does not lower today to the nest it was measured as is left
// out. Fails where the default does not lower.
absl::StatusOr<std::vector<PlannedTrial>> ChooseFinalists(const TaskContext& task,
                                                          const TaskHistory& history, int top);

// What became of each finalist. `entries` correspond to the finalists that were built; the first is
// the default. Entries that failed are left out; fails where the default did. The winner has
// the greatest median of paired ratios to the default, above 1, and a median time that is no longer
// than the default's; where nobody has, the default wins.
absl::StatusOr<tuning_db::Final> JudgeFinal(const std::vector<tuning_db::FinalEntry>& entries,
                                            const hone::v1::MeasureResult& result, int rounds);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_FINAL_PLAN_H_
