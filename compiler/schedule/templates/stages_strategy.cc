#include "compiler/schedule/templates/stages_strategy.h"

#include <string>

#include "compiler/schedule/templates/templates.h"

namespace hone::schedule {

Config DefaultStages(const Task& task) {
  Config config;
  config.Set("strategy", std::string("stages"));
  const Config generic = GenericTemplate().Default(task);
  for (const auto& [name, value] : generic.entries()) config.Set(name, value);
  return config;
}

absl::StatusOr<loop::Nest> ScheduleAsStages(const Task& task, const Config& config) {
  Config stages;
  for (const auto& [name, value] : config.entries()) {
    if (name != "strategy") stages.Set(name, value);
  }
  return GenericTemplate().Schedule(task, stages);
}

}  // namespace hone::schedule
