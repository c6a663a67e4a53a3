#include "tuning_db/clone_job.h"

namespace hone::tuning_db {

Job CloneOf(const Job& job, const JobChanges& changes) {
  Job clone;
  clone.model = job.model;
  clone.target = job.target;
  clone.seed = changes.seed.value_or(job.seed);
  clone.priority = changes.priority.value_or(job.priority);
  clone.deadline_ns = changes.deadline_ns.value_or(job.deadline_ns);
  clone.search = job.search;
  clone.constant_bytes = job.constant_bytes;
  clone.ends_early = job.ends_early;
  clone.elsewhere_ns = job.elsewhere_ns;
  clone.sandbox = job.sandbox;
  clone.device_class = job.device_class;
  clone.tasks = job.tasks;
  for (JobTask& task : clone.tasks) task.trials = changes.trials.value_or(task.trials);
  return clone;
}

}  // namespace hone::tuning_db
