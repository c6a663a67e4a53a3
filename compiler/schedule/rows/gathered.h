// The strategy of reductions that computes a row at a time: its stages, but for those that are
// stored beforehand, while the row is in registers or in the first cache. The lanes of a sum are
// combined at its end.
#ifndef HONE_COMPILER_SCHEDULE_ROWS_GATHERED_H_
#define HONE_COMPILER_SCHEDULE_ROWS_GATHERED_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/rows/view.h"

namespace hone::schedule {

// Gathers the stages in the loops over rows: these loops become the grid, and a stage is computed
// in the innermost of them unless that would compute it too often (Rows::stored). The first
// reduction, or with `all_stages` every stage, is computed for `together` rows at once, so that its
// latency is not waited for in each row. nullopt: the stages cannot be computed a row at a time, or
// a row has less than four columns.
std::optional<Rows> GatherRows(const ops::KernelDefinition& def, int64_t together = 1,
                               bool all_stages = false);

std::unique_ptr<const Plan> OpenGatheredRows(
    const std::shared_ptr<const Problem<Reduction>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ROWS_GATHERED_H_
