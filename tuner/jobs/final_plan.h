// Chooses the configs that take part in a final, and judges which one won.
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
// trials that are not clearly beaten by the best of them; each nest once. A config that does not
// lower today to the nest it was measured as is left out. Fails where the default does not lower.
absl::StatusOr<std::vector<PlannedTrial>> ChooseFinalists(const TaskContext& task,
                                                          const TaskHistory& history, int top);

// Whether a finalist that runs has fewer times than there were rounds: worth another attempt.
bool MissesRounds(const hone::v1::MeasureResult& result, int rounds);

// What became of each finalist, added to what `facts` says already. `entries` correspond to the
// results; the first is the default. Entries that failed, or that were timed in fewer than three
// rounds, are left out; the others are compared over the rounds that all of them have. Fails where
// the default is left out, or fewer than three such rounds are left. The winner has the greatest
// median of paired ratios to the default among those that are faster than it in at least three
// quarters of the rounds; where nobody is, the default wins: the best of several that are equally
// fast looks faster, and would replace a config that was chosen for what a measurement alone does
// not see.
absl::StatusOr<tuning_db::Final> JudgeFinal(tuning_db::Final facts,
                                            const std::vector<tuning_db::FinalEntry>& entries,
                                            const hone::v1::MeasureResult& result, int rounds);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_FINAL_PLAN_H_
