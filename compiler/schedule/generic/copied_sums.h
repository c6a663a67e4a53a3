// The sums of a kernel, as seen by strategies that copy the factors of the sums to shared memory.
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
  // The naive nest with its cheap stages inlined, except for those that fill factors: these are
  // computed where other factors are copied.
  Sequence start;
  std::set<std::string> stages;  // the stages that fill factors
  GridSums sums;                 // the main sums of `start`
};

// Whether the buffer is not computed, or by a stage that does nothing but copy what is not computed
// and put zeros around it; with `axis`, only where there are none along that axis.
bool IsCopied(const loop::Nest& nest, const std::string& buffer,
              std::optional<size_t> axis = std::nullopt);
// Whether all factors are so, and a device can copy them in the background
// (machine/background_copies.h) if their elements have four bytes or several are copied at once.
bool CopiesFromGlobal(const CopiedSums& copied);

// nullopt: the kernel has no sums, or another stage has the main ones once those stages are not
// inlined.
std::optional<CopiedSums> ViewCopiedSums(const Problem<GridKernel>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_COPIED_SUMS_H_
