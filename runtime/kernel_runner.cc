#include "runtime/kernel_runner.h"

#include <string>

namespace hone {

KernelRunner::KernelRunner(const hone_kernel& kernel, ThreadTeam& team)
    : device_(std::shared_ptr<ThreadTeam>(std::shared_ptr<void>(), &team)) {
  std::string error;
  prepare_.plan = PlanOf(kernel, HONE_PHASE_PREPARE);
  prepare_.sequence = device_.MakeSequence(prepare_.plan, &error);
  run_.plan = PlanOf(kernel, HONE_PHASE_RUN);
  run_.sequence = device_.MakeSequence(run_.plan, &error);
}

SequencePlan KernelRunner::PlanOf(const hone_kernel& kernel, hone_phase phase) {
  SequencePlan plan;
  for (uint32_t l = 0; l < kernel.launch_count; ++l) {
    const hone_launch& launch = kernel.launches[l];
    if (launch.phase != static_cast<uint32_t>(phase)) continue;
    // Nothing of this run stands before the first.
    plan.steps.push_back(
        {.launch = &launch, .wants_barrier = !plan.steps.empty() && launch.barrier_before != 0});
  }
  return plan;
}

}  // namespace hone
