#include "tuner/jobs/task_table.h"

#include <algorithm>
#include <utility>

#include "support/status.h"

namespace hone::tuner {

TaskRunner* TaskTable::Find(const TaskKey& key) {
  const auto it = runners_.find(key);
  return it == runners_.end() ? nullptr : it->second.get();
}

absl::StatusOr<TaskRunner*> TaskTable::Ensure(const tuning_db::JobTask& wanted) {
  const TaskKey key = KeyOf(wanted);
  if (TaskRunner* known = Find(key)) return known;
  const TuningParts& parts = loop_.parts;
  HONE_ASSIGN_OR_RETURN(const tuning_db::Task task, parts.store->GetTask(wanted.task));
  auto runner = std::make_unique<TaskRunner>(key, task);
  auto context = Open(key, task);
  if (context.ok()) {
    runner->context = *std::move(context);
    runner->history.ReadIn(&runner->context->space());
  } else {
    runner->failure = std::string(context.status().message());
  }
  HONE_RETURN_IF_ERROR(runner->history.Load(*parts.store));
  runner->unserved_since_ns = parts.clock->NowNs();
  return (runners_[key] = std::move(runner)).get();
}

absl::StatusOr<std::shared_ptr<const TaskContext>> TaskTable::Open(
    const TaskKey& key, const tuning_db::Task& task) const {
  const auto offered = offered_.find(key);
  if (offered != offered_.end()) return offered->second;
  return loop_.parts.lowerer->Open(task.workload, key.second, task.target);
}

TaskRunner* TaskTable::EndPlanning(const TaskKey& key, uint64_t serial) {
  TaskRunner* const runner = Find(key);
  if (runner == nullptr || runner->serial != serial) return nullptr;
  runner->planning = false;
  return runner->IsActive() ? runner : nullptr;
}

void TaskTable::DropParked() {
  std::erase_if(runners_, [](const auto& item) {
    return !item.second->IsWanted() && item.second->measuring.empty();
  });
}

bool TaskTable::SeeDevices() {
  bool changed = false;
  for (auto& [key, runner] : runners_) {
    const bool is_served = loop_.parts.measurer->Serves(runner->Need(*loop_.parts.measurer));
    if (is_served == runner->is_served) continue;
    runner->is_served = is_served;
    runner->unserved_since_ns = loop_.parts.clock->NowNs();
    changed = true;
  }
  return changed;
}

BuildQueue::Filter TaskTable::IsServed() const {
  return [this](const TaskKey& key) {
    const auto it = runners_.find(key);
    return it != runners_.end() && it->second->is_served;
  };
}

bool TaskTable::IsMeasuring() const {
  return std::ranges::any_of(runners_, [](const auto& item) {
    return item.second->is_served && !item.second->measuring.empty();
  });
}

bool TaskTable::IsMeasuringFinal() const {
  return std::ranges::any_of(runners_, [](const auto& item) {
    return item.second->is_served && item.second->IsMeasuringFinal();
  });
}

bool TaskTable::Alternates() const {
  if (loop_.options.local_cores <= 0) return false;
  return std::ranges::any_of(runners_, [&](const auto& item) {
    const TaskRunner& runner = *item.second;
    return !runner.IsClosed() && runner.is_served &&
           runner.context->threads() >= loop_.options.local_cores;
  });
}

void TaskTable::SetWaiting(TaskRunner& runner, const std::string& what) const {
  if (runner.waiting == what) return;
  runner.waiting = what;
  if (loop_.parts.on_waiting) loop_.parts.on_waiting(runner.key.first, runner.key.second, what);
}

}  // namespace hone::tuner
