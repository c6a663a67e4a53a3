// Searches that end before their budget.
#include <algorithm>

#include "tuner/jobs/tuning_loop.h"
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

}  // namespace

void TuningLoop::JudgeSearches() {
  for (auto& [key, runner] : runners_) {
    if (runner->IsClosed() || runner->planning || runner->history.open() > 0) continue;
    for (Want& want : runner->wants) {
      if (!want.IsJudgedAt(runner->history.count())) Judge(*runner, want);
    }
  }
}

void TuningLoop::Judge(const TaskRunner& runner, Want& want) {
  const int64_t trials = runner.history.count();
  if (trials > 0) {
    ActiveJob& active = jobs_.at(want.job->job.id);
    if (!active.models_ns) active.models_ns = ModelsNs(active);
    if (!active.models_ns) return;
    const double own_ns = want.task->weight * runner.history.FirstTime().value_or(0);
    want.share = *active.models_ns > 0 ? own_ns / *active.models_ns : 1;
    // Where nothing has run yet, all is still to be won.
    want.is_worth_more =
        own_ns <= 0 || (!HasEndedBefore(runner, want.share) &&
                        IsWorthMore({want.share, runner.history.RankedTimes()}, options_.batch));
  }
  want.judged_at = trials;
}

std::optional<double> TuningLoop::ModelsNs(const ActiveJob& active) const {
  double total_ns = active.job.elsewhere_ns;
  for (const tuning_db::JobTask& task : active.job.tasks) {
    const TaskRunner& runner = *runners_.at({task.task, task.signature});
    if (!runner.failure.empty()) continue;
    const std::optional<double> first_ns = runner.history.FirstTime();
    if (!first_ns) return std::nullopt;
    total_ns += task.weight * *first_ns;
  }
  return total_ns;
}

}  // namespace hone::tuner
