// What the strategies of reductions see of a kernel.
#ifndef HONE_COMPILER_SCHEDULE_ROWS_VIEW_H_
#define HONE_COMPILER_SCHEDULE_ROWS_VIEW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// The rows of a kernel whose stages can all be computed one row at a time.
struct Rows {
  // The last launch has the loops over rows and, in the innermost of them, all stages but those of
  // `stored`, which have launches of their own before it.
  Sequence s;
  std::vector<Stage> stored;
  int64_t columns = 0;       // extent of the longest innermost loop
  int64_t last_extent = 0;   // extent of the innermost loop over rows
  bool can_overlap = false;  // the first of several stages is a reduction
};

// A reduction in parts.
struct RowParts {
  Loop loop;                     // of the reduction, which the parts divide
  std::vector<int64_t> options;  // numbers of parts, ascending
  bool divides_innermost = false;
  int64_t innermost = 0;  // extent of the innermost loop
  int64_t results = 0;
  int64_t terms = 0;  // of all results together

  // How many iterations the innermost loop has in each of `parts` parts.
  int64_t Columns(int64_t parts) const { return divides_innermost ? innermost / parts : innermost; }
};

// The ways to reduce a kernel's rows; either may be impossible.
struct Reduction {
  std::optional<Rows> rows;
  std::optional<RowParts> parts;
  bool any() const { return rows || parts; }
};

// Whether the kernel finds where the largest or smallest element is (argmax, argmin).
bool FindsPositions(const ops::KernelDefinition& def);
// Whether the kernel is a softmax or log_softmax, beside operators of no kind above kInjective.
bool IsSoftmax(const ops::KernelDefinition& def);
// Whether a maximum may lose NaN. In a softmax it may, since NaN reaches every result by the sum.
// But nothing is gained by that where the machine's maximum instruction keeps NaN, as on AArch64;
// the answer is then no.
bool DropsNan(const Task& task);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ROWS_VIEW_H_
