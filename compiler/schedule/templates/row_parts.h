// Reductions to fewer results than keep all threads busy, as parts: each thread reduces some, and a
// launch of its own combines them.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_ROW_PARTS_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_ROW_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/templates/row_loops.h"

namespace hone::schedule {

struct RowParts {
  std::string loop;              // of the reduction, which the parts divide
  std::vector<int64_t> options;  // numbers of parts, ascending
  bool divides_innermost = false;
  int64_t innermost = 0;  // extent of the innermost loop
  int64_t results = 0;
  int64_t terms = 0;  // of all of them together

  // Of the innermost loop, in each of so many parts.
  int64_t Columns(int64_t parts) const { return divides_innermost ? innermost / parts : innermost; }
};

// nullopt where the kernel is more than one reduction and what computes its elements, where it has
// results enough, or where no loop of it falls into parts.
std::optional<RowParts> PartsOfRows(const ops::KernelDefinition& def, int64_t threads);

absl::StatusOr<loop::Nest> ScheduleRowParts(const ops::KernelDefinition& def, const RowParts& rows,
                                            int64_t parts, const RowSchedule& row);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_ROW_PARTS_H_
