#include "cli/micro_kernel_job.h"

#include <algorithm>
#include <set>
#include <string>

#include "support/status.h"
#include "tuner/search_names.h"

namespace hone::cli {
namespace {

int64_t CountUnsettled(const schedule::MicroKernelTask& task,
                       const std::vector<schedule::ConfigCost>& settled) {
  std::set<std::string> known;
  for (const schedule::ConfigCost& cost : settled) known.insert(cost.config);
  return std::ranges::count_if(task.configs,
                               [&](const std::string& config) { return !known.contains(config); });
}

}  // namespace

void AskForMicroKernels(const CpuTarget& target, v1::GetConfigsRequest& request) {
  for (const schedule::MicroKernelTask& task : schedule::MicroKernelTasksOf(target)) {
    request.set_calibration_target(task.target);  // the same of all
    v1::ConfigKey& key = *request.add_calibrations();
    key.set_workload_digest(task.workload_digest);
    key.set_signature(task.signature);
  }
}

MicroKernelCosts MicroKernelCostsIn(const v1::GetConfigsResponse& response) {
  MicroKernelCosts costs;
  for (const v1::Calibration& calibration : response.calibrations()) {
    costs.emplace_back();
    for (const v1::ConfigCost& cost : calibration.costs()) {
      costs.back().push_back({cost.config(), cost.cost(), cost.toolchain()});
    }
  }
  return costs;
}

absl::StatusOr<MicroKernelCosts> MicroKernelCostsOf(TuningClient& client, const CpuTarget& target) {
  v1::GetConfigsRequest request;
  AskForMicroKernels(target, request);
  request.set_target(request.calibration_target());  // what an older daemon reads
  HONE_ASSIGN_OR_RETURN(const v1::GetConfigsResponse response, client.GetConfigs(request));
  return MicroKernelCostsIn(response);
}

MicroKernelPlan PlanMicroKernels(const CpuTarget& target, const MicroKernelCosts& settled,
                                 int64_t budget) {
  MicroKernelPlan plan;
  const std::vector<schedule::MicroKernelTask> tasks = schedule::MicroKernelTasksOf(target);
  for (size_t i = 0; i < tasks.size(); ++i) {
    const int64_t trials =
        CountUnsettled(tasks[i], i < settled.size() ? settled[i] : MicroKernelCosts::value_type());
    if (trials == 0) continue;
    if (plan.trials + trials > budget) break;
    plan.tasks.push_back(tasks[i]);
    plan.trials += trials;
  }
  return plan;
}

std::optional<int64_t> MicroKernelLimitNs(int64_t limit_ns, int64_t spent_ns) {
  constexpr int64_t kParts = 4;
  if (limit_ns <= 0) return 0;
  const int64_t left_ns = limit_ns / kParts - spent_ns;
  return left_ns > 0 ? std::optional(left_ns) : std::nullopt;
}

v1::JobSpec MicroKernelJob(const schedule::MicroKernelTask& task) {
  v1::JobSpec spec;
  spec.set_model("micro-kernels");
  spec.set_target(task.target);
  spec.set_trials(static_cast<int64_t>(task.configs.size()));
  spec.set_search(std::string(tuner::kCalibratingSearch.name));
  spec.set_constant_bytes(static_cast<uint64_t>(task.constant_bytes));
  v1::TaskSpec& added = *spec.add_tasks();
  added.set_workload(task.workload);
  added.set_signature(task.signature);
  added.set_name(task.name);
  added.set_weight(1);
  return spec;
}

}  // namespace hone::cli
