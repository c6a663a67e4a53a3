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

// Whether a finalist that runs was timed in fewer rounds than there were: then the final is worth
// another attempt.
bool MissesRounds(const hone::v1::MeasureResult& result, int rounds);

// Judges a final from its measurement: returns `facts` with what became of each finalist, and which
// one won. `entries` correspond to the candidates of `result`; the first is the default. Entries
// that failed, or that were timed in fewer than three rounds, are left out; the others are compared
// over the rounds that all of them have. Fails where the default is left out, or fewer than three
// such rounds are left. The winner is, of the entries that are faster than the default in at least
// three quarters of the rounds, the one with the greatest median ratio to it, paired by round. If
// there is no such entry the default wins: the best of several that are equally fast looks faster
// by chance, and would replace a config that was chosen for reasons that a measurement alone does
// not show.
absl::StatusOr<tuning_db::Final> JudgeFinal(tuning_db::Final facts,
                                            const std::vector<tuning_db::FinalEntry>& entries,
                                            const hone::v1::MeasureResult& result, int rounds);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_FINAL_PLAN_H_
