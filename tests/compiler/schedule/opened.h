// What tests ask of a task once; it is opened for the one answer.
#ifndef HONE_TESTS_COMPILER_SCHEDULE_OPENED_H_
#define HONE_TESTS_COMPILER_SCHEDULE_OPENED_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/open_task.h"
#include "support/status.h"

namespace hone::schedule {

inline Space SpaceOfTask(const Task& task) { return OpenTask::Open(task).value().space(); }
inline Config DefaultOfTask(const Task& task) { return OpenTask::Open(task).value().Default(); }
inline std::vector<Config> AlternativesOfTask(const Task& task) {
  std::vector<Config> ranked = OpenTask::Open(task).value().Ranked();
  ranked.erase(ranked.begin());
  return ranked;
}
inline absl::StatusOr<LoweredConfig> LowerConfig(const Task& task, const Config& config) {
  HONE_ASSIGN_OR_RETURN(const OpenTask open, OpenTask::Open(task));
  return open.Lower(config);
}
inline absl::StatusOr<loop::Nest> NestOfConfig(const Task& task, const Config& config) {
  HONE_ASSIGN_OR_RETURN(LoweredConfig lowered, LowerConfig(task, config));
  return std::move(lowered.nest);
}

}  // namespace hone::schedule

#endif  // HONE_TESTS_COMPILER_SCHEDULE_OPENED_H_
