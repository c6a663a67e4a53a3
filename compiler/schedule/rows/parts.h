// The strategy of reductions with fewer results than keep all threads busy. It splits them into
// parts: each thread reduces some parts, and a second launch combines them.
#ifndef HONE_COMPILER_SCHEDULE_ROWS_PARTS_H_
#define HONE_COMPILER_SCHEDULE_ROWS_PARTS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "compiler/schedule/rows/view.h"

namespace hone::schedule {

// nullopt: the kernel is not a single reduction with stages of at most as many elements as it has
// results, it has results enough for `threads`, or no loop of the reduction divides into parts.
std::optional<RowParts> PartsOfRows(const ops::KernelDefinition& def, int64_t threads);

std::unique_ptr<const Plan> OpenRowParts(const std::shared_ptr<const Problem<Reduction>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ROWS_PARTS_H_
