#include "runtime/kernel_runner.h"

#include <algorithm>

namespace hone {

KernelRunner::KernelRunner(const hone_kernel& kernel, ThreadTeam& team)
    : kernel_(kernel),
      team_(team),
      prepare_(MakeSteps(HONE_PHASE_PREPARE)),
      run_(MakeSteps(HONE_PHASE_RUN)) {
  uint64_t scratch_bytes = 0;
  for (uint32_t l = 0; l < kernel.launch_count; ++l) {
    scratch_bytes = std::max(scratch_bytes, kernel.launches[l].scratch_bytes);
  }
  for (int thread = 0; thread < team.threads(); ++thread) {
    scratch_.emplace_back(scratch_bytes);
    ok_ = ok_ && (scratch_bytes == 0 || scratch_.back().data() != nullptr);
  }
}

std::vector<LaunchStep> KernelRunner::MakeSteps(hone_phase phase) const {
  std::vector<LaunchStep> steps;
  BarrierPlan barriers;
  for (uint32_t l = 0; l < kernel_.launch_count; ++l) {
    const hone_launch& launch = kernel_.launches[l];
    if (launch.phase != static_cast<uint32_t>(phase)) continue;
    // Nothing of this run stands before the first.
    const bool wants_barrier = !steps.empty() && launch.barrier_before != 0;
    steps.push_back(LaunchStep::Of(launch, wants_barrier).Planned(barriers));
  }
  return steps;
}

void KernelRunner::Run(hone_phase phase) {
  const std::vector<LaunchStep>& steps = phase == HONE_PHASE_PREPARE ? prepare_ : run_;
  if (team_.threads() == 1) {
    SubnormalMode mode;
    for (const LaunchStep& step : steps) step.RunAll(view_, scratch_[0].data(), mode);
    return;
  }
  current_ = &steps;
  team_.Run(
      [](void* self, int thread) {
        auto* runner = static_cast<KernelRunner*>(self);
        runner->Walk(*runner->current_, thread);
      },
      this);
}

void KernelRunner::Walk(const std::vector<LaunchStep>& steps, int thread) {
  SubnormalMode mode;
  for (const LaunchStep& step : steps) {
    if (step.barrier_before) team_.Barrier();
    step.Run(view_, thread, team_.threads(), scratch_[thread].data(), mode);
  }
}

}  // namespace hone
