// Searches that end before their budget (docs/decisions/0016).
#ifndef HONE_TUNER_JOBS_SEARCH_ENDS_H_
#define HONE_TUNER_JOBS_SEARCH_ENDS_H_

#include "tuner/jobs/task_runner.h"
#include "tuner/jobs/task_table.h"

namespace hone::tuner {

// Judges, for every task without open trials and every job that wants it and whose searches end
// early, whether more trials are worth it.
void JudgeSearches(TaskTable& tasks, ActiveJobs& jobs, int batch);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_SEARCH_ENDS_H_
