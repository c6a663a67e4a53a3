// The strategy of reductions to fewer results than keep all threads busy, as parts: each thread
// reduces some, and a launch of its own combines them.
#ifndef HONE_COMPILER_SCHEDULE_ROWS_PARTS_H_
#define HONE_COMPILER_SCHEDULE_ROWS_PARTS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "compiler/schedule/rows/view.h"

namespace hone::schedule {

// nullopt where the kernel is more than one reduction and what computes its elements, where it has
// results enough, or where no loop of it falls into parts.
std::optional<RowParts> PartsOfRows(const ops::KernelDefinition& def, int64_t threads);

std::unique_ptr<const Plan> OpenRowParts(const std::shared_ptr<const Problem<Reduction>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ROWS_PARTS_H_
