#include "tuner/jobs/search_ends.h"

#include <optional>

#include "tuner/task_scheduler/early_end.h"

namespace hone::tuner {
namespace {

// A search that has ended goes on where its task weighs more than this many times as much: in
// another model, or when its layouts are settled.
constexpr double kWeighsMore = 2;

bool HasEndedBefore(const TaskRunner& runner, double share) {
  const TaskHistory& history = runner.history;
  return history.FinalIsCurrent(runner.context->default_config()) &&
         history.final()->ended_share > 0 && share <= kWeighsMore * history.final()->ended_share;
}

// What the job's models take with defaults; nothing: not every task has a first trial yet.
std::optional<double> ModelsNs(TaskTable& tasks, const ActiveJob& active) {
  double total_ns = active.job.elsewhere_ns;
  for (const tuning_db::JobTask& task : active.job.tasks) {
    const TaskRunner& runner = *tasks.Find(KeyOf(task));
    if (!runner.failure.empty()) continue;
    const std::optional<double> first_ns = runner.history.FirstTime();
    if (!first_ns) return std::nullopt;
    total_ns += task.weight * *first_ns;
  }
  return total_ns;
}

void Judge(TaskTable& tasks, ActiveJob& active, const TaskRunner& runner, int batch, Want& want) {
  const int64_t trials = runner.history.count();
  if (trials > 0) {
    if (!active.models_ns) active.models_ns = ModelsNs(tasks, active);
    if (!active.models_ns) return;
    const double own_ns = want.task->weight * runner.history.FirstTime().value_or(0);
    want.share = *active.models_ns > 0 ? own_ns / *active.models_ns : 1;
    // Where nothing has run yet, all is still to be won.
    want.is_worth_more =
        own_ns <= 0 || (!HasEndedBefore(runner, want.share) &&
                        IsWorthMore({want.share, runner.history.RankedTimes()}, batch));
  }
  want.judged_at = trials;
}

}  // namespace

void JudgeSearches(TaskTable& tasks, ActiveJobs& jobs, int batch) {
  for (auto& [key, runner] : tasks.runners()) {
    if (!runner->IsActive() || runner->planning || runner->history.open() > 0) continue;
    for (Want& want : runner->wants) {
      if (want.IsJudgedAt(runner->history.count())) continue;
      Judge(tasks, jobs.at(want.job->job.id), *runner, batch, want);
    }
  }
}

}  // namespace hone::tuner
