#include "runtime/kernel_runner.h"

#include <algorithm>

namespace hone {

KernelRunner::KernelRunner(const hone_kernel& kernel, ThreadTeam& team)
    : kernel_(kernel), team_(team) {
  uint64_t scratch_bytes = 0;
  for (uint32_t l = 0; l < kernel.launch_count; ++l) {
    scratch_bytes = std::max(scratch_bytes, kernel.launches[l].scratch_bytes);
  }
  for (int thread = 0; thread < team.threads(); ++thread) {
    scratch_.emplace_back(scratch_bytes);
    ok_ = ok_ && (scratch_bytes == 0 || scratch_.back().data() != nullptr);
  }
}

void KernelRunner::Run(hone_phase phase) {
  phase_ = phase;
  team_.Run([](void* self, int thread) { static_cast<KernelRunner*>(self)->Walk(thread); }, this);
}

void KernelRunner::Walk(int thread) {
  const int64_t threads = team_.threads();
  for (uint32_t l = 0; l < kernel_.launch_count; ++l) {
    const hone_launch& launch = kernel_.launches[l];
    if (launch.phase != phase_) continue;
    if (launch.barrier_before != 0) team_.Barrier();
    const bool alone = launch.serial != 0;
    const int64_t begin = alone ? 0 : launch.grid_extent * thread / threads;
    const int64_t end = alone ? (thread == 0 ? launch.grid_extent : 0)
                              : launch.grid_extent * (thread + 1) / threads;
    if (begin < end) launch.function(view_, begin, end, scratch_[thread].data());
  }
}

}  // namespace hone
