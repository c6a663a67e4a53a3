// The sums of a kernel, as seen by strategies that copy the factors of the sums to shared memory.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_COPIED_SUMS_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_COPIED_SUMS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/generic/grid_sums.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// The most that a thread copies at once.
inline constexpr int64_t kBytesCopiedAtOnce = 16;

// A value type.
struct CopiedSums {
  // The naive nest with its cheap stages inlined, except for those that fill factors: these are
  // computed where other factors are copied.
  Sequence start;
  std::set<std::string> stages;  // the stages that fill factors
  GridSums sums;                 // the main sums of `start`
};

// Whether the buffer is no workspace, or is filled by a stage that only copies such a buffer,
// perhaps with a border around it; with `axis`, all of 16 bytes of neighbours along that axis are
// inside the border, or none is.
bool IsCopied(const loop::Nest& nest, const std::string& buffer,
              std::optional<size_t> axis = std::nullopt);
// Whether IsCopied holds for all factors. A device that copies in the background
// (machine/background_copies.h) can then copy those whose elements have four bytes, or of which a
// thread copies several neighbours at once.
bool CopiesFromGlobal(const CopiedSums& copied);

// nullopt: the kernel has no sums, or another stage has the main ones once those stages are not
// inlined.
std::optional<CopiedSums> ViewCopiedSums(const Problem<GridKernel>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_COPIED_SUMS_H_
