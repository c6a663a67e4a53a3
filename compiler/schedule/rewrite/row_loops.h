// Schedules of loops along one row, which is in registers or in the first cache. The templates that
// compute several stages of a row at once share them.
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
  int64_t unroll = 1;      // vectors at once in loops that sum nothing
  bool registers = false;  // loops along a row are unrolled entirely
  bool drops_nan = false;  // of its maximum (ReduceByLanes)
};

// The knobs "lanes", "row", "parts" and "unroll" for rows of `columns` elements, in this order;
// nullopt once all are chosen.
std::optional<Knob> NextRowKnob(int64_t columns, const machine::Machine& machine,
                                const Config& prefix);
// Sets these knobs to their defaults: the row in registers where it fits, four vectors of partial
// sums to hide the latency of an addition, and four vectors at once to hide the instructions of the
// loop.
void SetDefaultRow(int64_t columns, const machine::Machine& machine, Config* config);
RowSchedule RowScheduleOf(const Config& config, bool drops_nan);

// The serial loops of `body` that have a store as their body.
std::vector<loop::Stmt> InnermostLoops(const loop::Stmt& body);
// Whether consecutive iterations of the loop read elements of a buffer that lie side by side or, in
// a row-major buffer, at most `most_apart` elements apart.
bool ReadsAlong(const loop::Stmt& innermost, int64_t most_apart = 1);

// Schedules an innermost loop of constant extent around one store. A reduction gets partial results
// in lanes (ReduceByLanes); all else is computed in vectors.
void ScheduleRowLoop(Sequence* s, const Loop& loop, const RowSchedule& row);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_REWRITE_ROW_LOOPS_H_
