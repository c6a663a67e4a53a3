#include "runtime/kernel_runner.h"

#include <algorithm>

#include "runtime/barrier_plan.h"

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

std::vector<KernelRunner::Step> KernelRunner::MakeSteps(hone_phase phase) const {
  std::vector<Step> steps;
  BarrierPlan barriers;
  for (uint32_t l = 0; l < kernel_.launch_count; ++l) {
    const hone_launch& launch = kernel_.launches[l];
    if (launch.phase != static_cast<uint32_t>(phase)) continue;
    const bool serial = launch.serial != 0 || launch.grid_extent == 1;
    // Nothing of this run stands before the first.
    const bool barrier = barriers.Next(!steps.empty() && launch.barrier_before != 0, serial);
    steps.push_back({launch.function, launch.grid_extent, serial, barrier});
  }
  return steps;
}

void KernelRunner::Run(hone_phase phase) {
  const std::vector<Step>& steps = phase == HONE_PHASE_PREPARE ? prepare_ : run_;
  if (team_.threads() == 1) {
    for (const Step& step : steps) step.function(view_, 0, step.grid_extent, scratch_[0].data());
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

void KernelRunner::Walk(const std::vector<Step>& steps, int thread) {
  const int64_t threads = team_.threads();
  for (const Step& step : steps) {
    if (step.barrier_before) team_.Barrier();
    if (step.serial) {
      if (thread == 0) step.function(view_, 0, step.grid_extent, scratch_[0].data());
      continue;
    }
    const int64_t begin = step.grid_extent * thread / threads;
    const int64_t end = step.grid_extent * (thread + 1) / threads;
    if (begin < end) step.function(view_, begin, end, scratch_[thread].data());
  }
}

}  // namespace hone
