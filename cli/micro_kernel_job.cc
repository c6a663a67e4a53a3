#include "cli/micro_kernel_job.h"

#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "support/status.h"

namespace hone::cli {

absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernelsOf(
    TuningClient& client, const Target& target) {
  v1::GetConfigsRequest request;
  for (const schedule::MicroKernelTask& task : schedule::MicroKernelTasksOf(target)) {
    request.set_target(task.target);  // the same of all
    v1::ConfigKey& key = *request.add_calibrations();
    key.set_workload_digest(task.workload_digest);
    key.set_signature(task.signature);
  }
  HONE_ASSIGN_OR_RETURN(const v1::GetConfigsResponse response, client.GetConfigs(request));
  std::vector<std::vector<schedule::ConfigCost>> costs;
  for (const v1::Calibration& calibration : response.calibrations()) {
    costs.emplace_back();
    for (const v1::ConfigCost& cost : calibration.costs()) {
      costs.back().push_back({cost.config(), cost.cost()});
    }
  }
  return schedule::MicroKernelTimes::Of(target, costs);
}

v1::JobSpec MicroKernelJob(const schedule::MicroKernelTask& task) {
  v1::JobSpec spec;
  spec.set_model("micro-kernels");
  spec.set_target(task.target);
  spec.set_trials(task.trials);
  spec.set_search("tiles");
  spec.set_constant_bytes(static_cast<uint64_t>(task.constant_bytes));
  v1::TaskSpec& added = *spec.add_tasks();
  added.set_workload(task.workload);
  added.set_signature(task.signature);
  added.set_name(task.name);
  added.set_weight(1);
  return spec;
}

}  // namespace hone::cli
