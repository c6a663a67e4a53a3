// Asks a daemon for its measurements of a target's micro-kernels, and makes the jobs that measure
// them.
#ifndef HONE_CLI_MICRO_KERNEL_JOB_H_
#define HONE_CLI_MICRO_KERNEL_JOB_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/tuning_client.h"
#include "compiler/schedule/micro_kernels.h"

namespace hone::cli {

// For each task of MicroKernelTasksOf, the costs that are settled.
using MicroKernelCosts = std::vector<std::vector<schedule::ConfigCost>>;
absl::StatusOr<MicroKernelCosts> MicroKernelCostsOf(TuningClient& client, const CpuTarget& target);
// These two do the same as part of a call that asks for more.
void AskForMicroKernels(const CpuTarget& target, v1::GetConfigsRequest& request);
MicroKernelCosts MicroKernelCostsIn(const v1::GetConfigsResponse& response);

// What to measure before a job of `budget` trials: the tasks of MicroKernelTasksOf that have
// unsettled configs, in order, as many as fit in the budget together. A stream is not measured
// before the tiles, since its time is given in their cycles.
struct MicroKernelPlan {
  std::vector<schedule::MicroKernelTask> tasks;
  int64_t trials = 0;  // that are not settled
};
MicroKernelPlan PlanMicroKernels(const CpuTarget& target, const MicroKernelCosts& settled,
                                 int64_t budget);

// How much of a tune's time limit the next micro-kernel job may take, after earlier ones have taken
// `spent_ns`. All of them together get a quarter; the rest is for the models' kernels. 0 if
// `limit_ns` is 0, which means no limit; nullopt: nothing is left of the quarter.
std::optional<int64_t> MicroKernelLimitNs(int64_t limit_ns, int64_t spent_ns);

// The job that measures all configs of the task.
v1::JobSpec MicroKernelJob(const schedule::MicroKernelTask& task);

}  // namespace hone::cli

#endif  // HONE_CLI_MICRO_KERNEL_JOB_H_
