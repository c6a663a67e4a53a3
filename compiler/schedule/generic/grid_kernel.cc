#include "compiler/schedule/generic/grid_kernel.h"

#include "compiler/schedule/rewrite/stage_schedule.h"

namespace hone::schedule {

GridKernel ViewGridKernel(const Task& task) {
  GridKernel kernel{
      .inlined = Sequence(task.def->naive), .sums = std::nullopt, .rows = {}, .transpose = {}};
  InlineCheapStages(&kernel.inlined);
  kernel.sums = MainSums(kernel.inlined);
  kernel.rows = ViewGridRows(*task.def, /*keeps=*/false);
  kernel.transpose = ViewGridTranspose(kernel.inlined);
  return kernel;
}

}  // namespace hone::schedule
