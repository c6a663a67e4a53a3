// Loops along one row, which is in registers or in the first cache: what the templates share that
// compute several stages of a row at once.
#ifndef HONE_COMPILER_SCHEDULE_REWRITE_ROW_LOOPS_H_
#define HONE_COMPILER_SCHEDULE_REWRITE_ROW_LOOPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// How the loops along a row are scheduled.
struct RowSchedule {
  int64_t lanes = 1;
  int64_t parts = 1;       // vectors of partial sums
  int64_t unroll = 1;      // vectors at once of what is no sum
  bool registers = false;  // no loop is left over a row
  bool drops_nan = false;  // of its maximum (ReduceByLanes)
};

// The knobs "lanes", "row", "parts" and "unroll" of rows of `columns` elements, in this order;
// nullopt once all are chosen.
std::optional<Knob> NextRowKnob(int64_t columns, const machine::Machine& machine,
                                const Config& prefix);
// A row in registers where it fits; four partial sums hide the latency of an addition, and four
// vectors at once the loop itself.
void SetDefaultRow(int64_t columns, const machine::Machine& machine, Config* config);
RowSchedule RowScheduleOf(const Config& config, bool drops_nan);

// Serial loops around a single store.
std::vector<loop::Stmt> InnermostLoops(const loop::Stmt& body);
// Whether the loop reads elements that lie side by side, or in memory that is row-major at most so
// far apart.
bool ReadsAlong(const loop::Stmt& innermost, int64_t most_apart = 1);

// An innermost loop of constant extent around one store. Sums get partial results in lanes.
void ScheduleRowLoop(Sequence* s, const Loop& loop, const RowSchedule& row);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_ROW_LOOPS_H_
