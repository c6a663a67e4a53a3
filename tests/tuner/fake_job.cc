#include "tests/tuner/fake_job.h"

#include "tests/tuner/fakes.h"

namespace hone::tuner {

hone::v1::JobSpec FakeJob(const std::vector<std::string>& workloads, int64_t trials) {
  hone::v1::JobSpec spec;
  spec.set_target(kFakeTarget);
  spec.set_trials(trials);
  spec.set_search("fake");
  for (const std::string& workload : workloads) {
    hone::v1::TaskSpec& task = *spec.add_tasks();
    task.set_workload(workload);
    task.set_signature("NC->NC");
    task.set_name(workload + " kernel");
  }
  return spec;
}

}  // namespace hone::tuner
