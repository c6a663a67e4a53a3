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
  // c in |err| <= c * 2^-24 * sum |a||b|.
  double error_bound = 0;
  // Whether rounding of one result's products also reaches results beside it.
  bool spreads_rounding = false;
};

// It is opened once for whatever is asked of the task. A value type, cheap to copy; immutable and
// thread-safe. The task's definition outlives it, and its spaces too.
class OpenTask {
 public:
  // kInvalidArgument: the signature does not fit the kernel.
  static absl::StatusOr<OpenTask> Open(Task task);

  const Task& task() const { return task_; }
  std::string_view template_name() const { return template_->name(); }

  // It does not depend on what was measured of the target.
  Space space() const;
  // Configs of the space from an analytic model of the target, with no measurement, at least one:
  // the default, then what a guided search tries after it, the best of other strategies by that
  // model. They are worked out at each call.
  std::vector<Config> Ranked() const;
  // The first of them.
  Config Default() const { return Ranked()[0]; }

  // As Plan says, of a config of the space.
  std::optional<double> Amplification(const Config& config) const {
    return plan_->Amplification(config);
  }

  // A config of the space always succeeds; another answers kInvalidArgument.
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
