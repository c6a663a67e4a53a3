// What the strategies of reductions see of a kernel.
#ifndef HONE_COMPILER_SCHEDULE_ROWS_VIEW_H_
#define HONE_COMPILER_SCHEDULE_ROWS_VIEW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// The rows of a kernel, each of which all stages can be computed in.
struct Rows {
  // One launch: the row loops, and in the last all stages. Before it those that are stored.
  Sequence s;
  std::vector<Stage> stored;
  int64_t columns = 0;       // of the longest innermost loop
  int64_t last_extent = 0;   // of the innermost of the loops over rows
  bool can_overlap = false;  // the first of several stages is a reduction
};

// A reduction in parts.
struct RowParts {
  Loop loop;                     // of the reduction, which the parts divide
  std::vector<int64_t> options;  // numbers of parts, ascending
  bool divides_innermost = false;
  int64_t innermost = 0;  // extent of the innermost loop
  int64_t results = 0;
  int64_t terms = 0;  // of all of them together

  // The columns of the innermost loop, in each of so many parts.
  int64_t Columns(int64_t parts) const { return divides_innermost ? innermost / parts : innermost; }
};

// The ways to reduce a kernel's rows; either may be impossible.
struct Reduction {
  std::optional<Rows> rows;
  std::optional<RowParts> parts;
  bool any() const { return rows || parts; }
};

// Whether a reduction is for the largest or smallest element, and another for where that is.
bool FindsPositions(const ops::KernelDefinition& def);
// Whether it is the kernel's only operator that takes a maximum.
bool IsSoftmax(const ops::KernelDefinition& def);
// NaN reaches every result of a softmax by its sum: its maximum need not hand it on. AArch64's
// maximum hands it on for nothing.
bool DropsNan(const Task& task);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ROWS_VIEW_H_
