#include "tuner/task_scheduler/task_scheduler.h"

#include <algorithm>
#include <tuple>

namespace hone::tuner {
namespace {

// Below this the design holds a task for finished; none is ever taken for quite that.
constexpr double kLeastGain = 0.01;

double GainOf(const TaskView& task) {
  if (task.earlier_best_ns <= 0) return 1;
  const double gained = 1 - task.best_ns / task.earlier_best_ns;
  // Long searches gain less and less from a batch.
  const double fading = 1.0 / static_cast<double>(1 + task.trials);
  return std::max({gained, kLeastGain, fading});
}

class GainScheduler final : public TaskScheduler {
 public:
  size_t Pick(const std::vector<TaskView>& tasks) override {
    size_t best = 0;
    for (size_t i = 1; i < tasks.size(); ++i) {
      if (Rank(tasks[i]) > Rank(tasks[best])) best = i;
    }
    return best;
  }

 private:
  // Tasks are ordered by their submitter's share and turn, by priority, by their job's turn, by
  // whether they were measured (those that were not come first, and the one with the fewest trials
  // before others), and by gain.
  using Ranking = std::tuple<double, int64_t, int, int64_t, bool, int64_t, double>;

  static Ranking Rank(const TaskView& task) {
    const bool is_new = task.best_ns <= 0;
    return {-task.share,
            -static_cast<int64_t>(task.submitter_turn),
            task.priority,
            -static_cast<int64_t>(task.job_turn),
            is_new,
            is_new ? -task.trials : 0,
            is_new ? task.weight : task.weight * task.best_ns * GainOf(task)};
  }
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeGainScheduler() { return std::make_unique<GainScheduler>(); }

}  // namespace hone::tuner
