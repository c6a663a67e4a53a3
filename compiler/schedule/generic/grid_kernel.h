// What strategies for machines with a grid of threads see of a kernel.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_GRID_KERNEL_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_GRID_KERNEL_H_

#include <optional>

#include "compiler/schedule/generic/grid_rows.h"
#include "compiler/schedule/generic/grid_sums.h"
#include "compiler/schedule/generic/grid_transpose.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// A value type.
struct GridKernel {
  Sequence inlined;              // the naive nest with its cheap stages inlined
  std::optional<GridSums> sums;  // the main sums of `inlined`
  std::optional<GridRows> rows;  // what ViewGridRows says without `keeps`
  std::optional<GridTranspose> transpose;
};

GridKernel ViewGridKernel(const Task& task);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_GRID_KERNEL_H_
