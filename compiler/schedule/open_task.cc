#include "compiler/schedule/open_task.h"

#include <utility>

#include "compiler/schedule/error_bound.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

absl::StatusOr<OpenTask> OpenTask::Open(Task task) {
  HONE_RETURN_IF_ERROR(CheckSignature(task));
  task.machine = machine::Machine::For(task.target);
  const Template& of = TemplateFor(*task.def, task.machine);
  std::shared_ptr<const Plan> plan = of.Open(task);
  return OpenTask(std::move(task), &of, std::move(plan));
}

Space OpenTask::space() const {
  return Space([plan = plan_](const Config& prefix) { return plan->NextKnob(prefix); });
}

std::vector<Config> OpenTask::Ranked() const {
  std::vector<Config> ranked;
  for (PricedConfig& priced : plan_->Ranked()) ranked.push_back(std::move(priced.config));
  return ranked;
}

absl::StatusOr<LoweredConfig> OpenTask::Lower(const Config& config) const {
  if (!space().Contains(config)) {
    return absl::InvalidArgumentError(
        fmt::format("the config {} is not of this task's space", config.ToText()));
  }
  LoweredConfig lowered;
  HONE_ASSIGN_OR_RETURN(lowered.nest, plan_->Schedule(config));
  const std::optional<double> amplification = Amplification(config);
  lowered.error_bound = ErrorBound(*task_.def, amplification.value_or(1));
  lowered.spreads_rounding = amplification.has_value();
  return lowered;
}

}  // namespace hone::schedule
