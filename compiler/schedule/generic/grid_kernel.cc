#include "compiler/schedule/generic/grid_kernel.h"

#include "compiler/schedule/rewrite/stage_schedule.h"

namespace hone::schedule {

GridKernel ViewGridKernel(const Task& task) {
  GridKernel kernel{.inlined = Sequence(task.def->naive), .sums = std::nullopt};
  InlineCheapStages(&kernel.inlined);
  kernel.sums = MainSums(kernel.inlined);
  return kernel;
}

}  // namespace hone::schedule
