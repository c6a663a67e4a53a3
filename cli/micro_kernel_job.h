// The micro-kernels of a target, as a daemon knows them or measures them.
#ifndef HONE_CLI_MICRO_KERNEL_JOB_H_
#define HONE_CLI_MICRO_KERNEL_JOB_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/tuning_client.h"
#include "compiler/schedule/micro_kernels.h"

namespace hone::cli {

// What is settled of each of MicroKernelTasksOf.
using MicroKernelCosts = std::vector<std::vector<schedule::ConfigCost>>;
absl::StatusOr<MicroKernelCosts> MicroKernelCostsOf(TuningClient& client, const CpuTarget& target);
// The same as part of a call that asks for more.
void AskForMicroKernels(const CpuTarget& target, v1::GetConfigsRequest& request);
MicroKernelCosts MicroKernelCostsIn(const v1::GetConfigsResponse& response);

// What is measured before a job of `budget` trials: of MicroKernelTasksOf, in order, those of which
// something is not settled, as long as all that is not fits in the budget. A stream is not measured
// before the tiles: its time is told in their cycles.
struct MicroKernelPlan {
  std::vector<schedule::MicroKernelTask> tasks;
  int64_t trials = 0;  // that are not settled
};
MicroKernelPlan PlanMicroKernels(const CpuTarget& target, const MicroKernelCosts& settled,
                                 int64_t budget);

// What the next of their jobs may take of a tune's time limit (0: none, which leaves it at 0) after
// they have taken `spent_ns`: all of them together a quarter, the rest is for the models' kernels.
// nullopt: nothing is left of that.
std::optional<int64_t> MicroKernelLimitNs(int64_t limit_ns, int64_t spent_ns);

// The job that measures one of the tasks, all of it.
v1::JobSpec MicroKernelJob(const schedule::MicroKernelTask& task);

}  // namespace hone::cli

#endif  // HONE_CLI_MICRO_KERNEL_JOB_H_
