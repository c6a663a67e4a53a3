// The sums of a kernel as strategies see them that copy factors to memory which threads share.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_COPIED_SUMS_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_COPIED_SUMS_H_

#include <optional>
#include <set>
#include <string>

#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/generic/grid_sums.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// A value type.
struct CopiedSums {
  // The naive nest without its cheap stages but those that fill factors, which are computed where
  // other factors are copied.
  Sequence start;
  std::set<std::string> stages;  // those that fill factors
  GridSums sums;                 // of `start`
};

// nullopt where the kernel has no sums, or has its main ones elsewhere once those stages stay.
std::optional<CopiedSums> ViewCopiedSums(const Problem<GridKernel>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_COPIED_SUMS_H_
