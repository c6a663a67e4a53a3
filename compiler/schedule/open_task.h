// Opened tasks: the space of a task, its defaults, and what a config lowers to.
#ifndef HONE_COMPILER_SCHEDULE_OPEN_TASK_H_
#define HONE_COMPILER_SCHEDULE_OPEN_TASK_H_

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/plan.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// What a config makes of a kernel.
struct LoweredConfig {
  loop::Nest nest;
  // The c of the bound |err| <= c * 2^-24 * sum |a||b| (ErrorBound).
  double error_bound = 0;
  // Whether rounding of one result's products also reaches results beside it.
  bool spreads_rounding = false;
};

// A task with the plan that its template makes of it. It is opened once and then answers all
// questions about the task. A value type, cheap to copy; immutable and thread-safe. The task's
// definition must outlive it and its spaces.
class OpenTask {
 public:
  // kInvalidArgument: the signature does not fit the kernel.
  static absl::StatusOr<OpenTask> Open(Task task);

  const Task& task() const { return task_; }
  std::string_view template_name() const { return template_->name(); }

  // The space of the task's configs. It does not depend on what was measured of the target.
  Space space() const;
  // Configs of the space that an analytic model of the target chooses, without measuring the task;
  // at least one. The first is the default. A guided search tries the others after it. Every call
  // works them out anew.
  std::vector<Config> Ranked() const;
  // The first of Ranked.
  Config Default() const { return Ranked()[0]; }

  // Plan::Amplification of a config of the space.
  std::optional<double> Amplification(const Config& config) const {
    return plan_->Amplification(config);
  }

  // A config of the space always succeeds; for any other the answer is kInvalidArgument.
  absl::StatusOr<LoweredConfig> Lower(const Config& config) const;

 private:
  OpenTask(Task task, const Template* of, std::shared_ptr<const Plan> plan)
      : task_(std::move(task)), template_(of), plan_(std::move(plan)) {}

  Task task_;
  const Template* template_;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_OPEN_TASK_H_
