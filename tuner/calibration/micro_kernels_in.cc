#include "tuner/calibration/micro_kernels_in.h"

#include <vector>

#include "support/status.h"
#include "tuning_db/resolve.h"

namespace hone::tuner {

absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernelsIn(
    tuning_db::Store& store, const CpuTarget& target) {
  std::vector<std::vector<schedule::ConfigCost>> costs;
  for (const schedule::MicroKernelTask& task : schedule::MicroKernelTasksOf(target)) {
    HONE_ASSIGN_OR_RETURN(
        const std::vector<tuning_db::ConfigCost> of_task,
        tuning_db::CalibrationOf(store, task.workload_digest, task.signature, task.target));
    costs.emplace_back();
    for (const tuning_db::ConfigCost& cost : of_task) {
      costs.back().push_back({cost.config, cost.cost, cost.toolchain});
    }
  }
  return schedule::MicroKernelTimes::Of(target, costs);
}

}  // namespace hone::tuner
